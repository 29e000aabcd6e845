// Owns the time that a node of a cluster lives by, and the shape of what it tells its operator.

import type { Time } from '../../src/cluster/time.ts';
import { clock } from '../shared/clock.ts';
import type { LogLine } from '../shared/control.ts';

export const time: Time = {
  monotonic: () => clock.monotonic(),
  after(ms, act) {
    const timer = setTimeout(act, ms);
    return () => clearTimeout(timer);
  },
};

export const line = (
  level: LogLine['level'],
  msg: string,
  fields: Readonly<Record<string, unknown>>,
): LogLine => ({ kind: 'log', level, msg, ...fields });
