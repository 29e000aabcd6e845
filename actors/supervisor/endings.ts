// Owns what the end of the coordinator's thread means for the process: an exit status, and a
// sentence for the operator.

import type { StartResult } from '../shared/control.ts';
import type { CoordinatorEnd } from './coordinator-life.ts';

/** Exit statuses; `doNotRestart` is for supervisors of processes: a restart cannot help. */
export const STATUS = { failed: 1, doNotRestart: 6 } as const;

/** A log that another process has, or that cannot be believed, is the same after a restart. */
const FINAL = new Set([
  'LOG_CORRUPT',
  'LOG_LOCKED',
  'LOG_FORMAT_NEWER',
  'LOG_FENCED',
  'LOG_SET_BACK',
  'LOG_BEHIND',
  'CLUSTER_UNKNOWN',
  'CLUSTER_MIRROR',
  'CLUSTER_KNOBS',
  'CLUSTER_FORMAT',
  'NODE_NAME',
]);

export const statusOf = (end: CoordinatorEnd): number =>
  end.kind === 'fatal' && FINAL.has(end.code) ? STATUS.doNotRestart : STATUS.failed;

export const why = (end: CoordinatorEnd): string =>
  end.kind === 'fatal'
    ? `${end.code}: ${end.message}`
    : end.kind === 'died'
      ? end.error.message
      : 'the coordinator stopped without being asked to';

/**
 * Whoever starts a second server by mistake finds the port taken first, and would choose another
 * one in vain.
 * @param isLocked whether a process serves a data directory
 * @returns why an ingress does not listen, and whether the data directory is taken as well
 */
export async function withOwner(
  { code, message }: Extract<StartResult, { ok: false }>,
  dataDir: string,
  isLocked: (dataDir: string) => Promise<boolean>,
): Promise<string> {
  if (code !== 'EADDRINUSE' || !(await isLocked(dataDir))) return message;
  return (
    `${message}. A coordinator already runs on ${dataDir}: ` +
    'to start a second one, choose another --data-dir, too'
  );
}
