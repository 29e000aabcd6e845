// Owns the process's own metrics (CPU, memory, file descriptors, garbage collection) as prom-client
// gathers them; they begin with the first scrape, so that who never asks does not pay.

import { collectDefaultMetrics, Registry } from 'prom-client';

let registry: Registry | undefined;

/** @returns Prometheus text. Those of the event loop and the heap are of the calling thread. */
export function processMetrics(): Promise<string> {
  if (registry === undefined) {
    registry = new Registry();
    collectDefaultMetrics({ register: registry });
    // The lag is shown for each of our threads already; these would be of one of them only.
    for (const { name } of registry.getMetricsAsArray()) {
      if (name.startsWith('nodejs_eventloop_lag')) registry.removeSingleMetric(name);
    }
  }
  return registry.metrics();
}
