// Owns the process's own metrics (CPU, memory, file descriptors, garbage collection) as prom-client
// gathers them; they begin with the first scrape, so that who never asks does not pay.

import { collectDefaultMetrics, Registry } from 'prom-client';

let registry: Registry | undefined;

/** @returns Prometheus text. Those of the event loop and the heap are of the calling thread. */
export function processMetrics(): Promise<string> {
  if (registry === undefined) {
    registry = new Registry();
    collectDefaultMetrics({ register: registry });
  }
  return registry.metrics();
}
