// Owns the words for an answer that was decided and cannot be sent: the log did not take what the
// answer rests on.

import type { Response } from '../model/response.ts';

const READS: ReadonlySet<Response['kind']> = new Set(['task', 'tasks', 'standing', 'overview']);

/** A request that made no record of its own has changed nothing, whatever became of the log. */
export function whyLost(response: Response): string {
  return hasRecord(response)
    ? 'the log did not take the record'
    : 'nothing was changed, and the log did not confirm what the answer rests on';
}

function hasRecord(response: Response): boolean {
  if (response.kind === 'refusal') return response.record !== null;
  if (response.kind === 'leased') return response.leases.length > 0;
  return !READS.has(response.kind);
}
