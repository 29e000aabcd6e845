// Owns which colours mean what on a terminal; elsewhere, and with NO_COLOR, there are none.

import picocolors from 'picocolors';
import type { Paint } from '../model/record-line.ts';
import type { Io } from './command.ts';

/** Green: it was done. Red: it ended otherwise. Yellow: a permission was lost. */
export function painter({ stdout, env }: Io): Paint {
  // Of a pipe isTTY is undefined, for which picocolors would guess by itself (and say yes in CI).
  const plain = !stdout.isTTY || Boolean(env['NO_COLOR']);
  const { green, red, yellow } = picocolors.createColors(!plain);
  return (type) => {
    switch (type) {
      case 'TaskCompleted':
        return green(type);
      case 'TaskFailed':
      case 'TaskDead':
        return red(type);
      case 'LeaseExpired':
      case 'TaskCancelled':
        return yellow(type);
      default:
        return type;
    }
  };
}
