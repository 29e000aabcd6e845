// Owns the measurement of how late an actor's event loop runs.

import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { ThreadFigures } from '../../src/metrics/request-times.ts';

const RESOLUTION_MS = 20;

export interface LagWatch {
  /** The greatest delay since the last call, beyond the sampling interval. */
  figures(): Omit<ThreadFigures, 'requests'>;
  stop(): void;
}

export function watchLag(actor: string): LagWatch {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  return {
    figures() {
      const eventLoopLagMs = Math.max(0, delay.max / 1e6 - RESOLUTION_MS);
      delay.reset();
      return { actor, eventLoopLagMs };
    },
    stop: () => void delay.disable(),
  };
}
