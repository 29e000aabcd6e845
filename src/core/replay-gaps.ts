// Owns what replay does with the state where the log is incomplete: at a record whose forgotten
// task is partly removed already, and at numbers without a record. It changes no task.

import type { LogRecord } from '../model/records.ts';
import { weightOf } from './log-bytes.ts';
import type { State } from './state.ts';

/**
 * Counts the number, the time and the weight of a record whose task is forgotten, nothing else.
 */
export function passOver(state: State, record: LogRecord): void {
  // The totals are left alone: the HistoryForgotten that follows sets them to what they were (R32).
  state.lastSeq = record.seq;
  state.lastAt = record.at;
  state.weights.forgotten += weightOf(record);
}

/** The numbers up to this one are declared absent: forgotten, or skipped by a restored log. */
export function skipTo(state: State, seq: number): void {
  state.lastSeq = seq;
}
