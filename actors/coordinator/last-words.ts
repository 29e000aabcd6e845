// Owns what the coordinator's thread says of the error that ends it: a sentence for the operator
// where it is one of operating, the place in the code where it is a bug.

import { LogCorrupt, wayOut } from '../../src/log/log.ts';
import { InvariantBroken } from '../../src/model/assert.ts';
import type { CoordinatorFatal } from '../shared/control.ts';

export function lastWords(error: unknown, dataDir: string): CoordinatorFatal {
  const { code, message, stack } = error as Error & { code?: string };
  if (error instanceof InvariantBroken || code === undefined) {
    return { kind: 'fatal', code: 'INVARIANT', message: stack ?? message };
  }
  const words = error instanceof LogCorrupt ? `${message}\n${wayOut(error.seq, dataDir)}` : message;
  return { kind: 'fatal', code, message: words };
}
