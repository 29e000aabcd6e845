// Owns what a decision may look at besides the request and the time. A decision cannot change any
// of it.

import { invariant } from '../model/assert.ts';
import type { CoreKnobs } from '../model/knobs.ts';
import type { LogRecord, RecordType } from '../model/records.ts';
import type { State } from './state.ts';

export interface Context {
  readonly state: State;
  readonly knobs: CoreKnobs;
  /**
   * Reads a record of the log by its number, records not flushed yet included: the state is ahead
   * of the disk (R27), and payloads stand in the records alone.
   */
  readonly read: (seq: number) => LogRecord | undefined;
}

/** @returns a record that the state says is there, as its type. */
export function recordAt<T extends RecordType>(
  context: Context,
  seq: number,
  type: T,
): Extract<LogRecord, { type: T }> {
  const record = context.read(seq);
  invariant(record?.type === type, 'record', seq, 'should be a', type, 'but it is', record?.type);
  return record as Extract<LogRecord, { type: T }>;
}
