// Owns which colours mean what on a terminal; elsewhere, and with NO_COLOR, there are none.

import picocolors from 'picocolors';
import type { Io } from './command.ts';
import type { Paint } from './record-line.ts';

/** Green: it was done. Red: it ended otherwise. Yellow: a permission was lost. */
export function painter({ stdout, env }: Io): Paint {
  const { green, red, yellow } = picocolors.createColors(stdout.isTTY && !env['NO_COLOR']);
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
