// Owns the process's own metrics (CPU, memory, file descriptors, garbage collection) as
// prom-client gathers them. Gathering begins with the first scrape: a process that is never
// scraped pays nothing.

import { collectDefaultMetrics, Registry } from 'prom-client';

const UNWANTED = /^nodejs_(eventloop_lag|active_)/;
let registry: Registry | undefined;

/** @returns Prometheus text. Those of the event loop and the heap are of the calling thread. */
export function processMetrics(): Promise<string> {
  if (registry === undefined) {
    registry = new Registry();
    collectDefaultMetrics({ register: registry });
    // Of one thread only, or named against the conventions: the lag of each thread is ours to show.
    for (const { name } of registry.getMetricsAsArray()) {
      if (UNWANTED.test(name)) registry.removeSingleMetric(name);
    }
  }
  return registry.metrics();
}
