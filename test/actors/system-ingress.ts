// An ingress or reader for system.test.ts that listens nowhere: it counts what its supervisor does
// with it, and dies once when it is told to.

import type { MessagePort } from 'node:worker_threads';
import type { ProducerControl, ReaderControl } from '../../actors/shared/control.ts';
import { serveControl } from '../../actors/shared/control-port.ts';

/** Places in `counts`. */
export const COUNTS = { connected: 0, introduced: 1, started: 2, quiesced: 3, stopped: 4 } as const;

export interface CountingData {
  readonly control: MessagePort;
  readonly counts: SharedArrayBuffer;
  readonly behaviour:
    | 'serve'
    | 'cannot listen'
    | 'die once'
    | 'die at the first start'
    | 'die at each start';
}

export default function ingress({ control, counts, behaviour }: CountingData): Promise<void> {
  const words = new Int32Array(counts);
  const count = (what: keyof typeof COUNTS): number => Atomics.add(words, COUNTS[what], 1) + 1;
  return new Promise((resolve) => {
    const actor: ProducerControl & ReaderControl = {
      connect: () => void count('connected'),
      connectReader: () => void count('introduced'),
      attach: () => void count('introduced'),
      durable: () => {},
      start() {
        const starts = count('started');
        if (behaviour === 'cannot listen') {
          return { ok: false, code: 'EADDRINUSE', message: 'EADDRINUSE: somewhere' };
        }
        const isFirst = starts === 1;
        if (behaviour === 'die at the first start' && isFirst) process.exit(3);
        if (behaviour === 'die at each start') process.exit(3);
        if (behaviour === 'die once' && isFirst) setTimeout(() => process.exit(3), 20);
        return { ok: true, address: 'nowhere' };
      },
      quiesce: () => void count('quiesced'),
      stop() {
        count('stopped');
        setImmediate(resolve);
      },
    };
    serveControl(control, actor);
  });
}
