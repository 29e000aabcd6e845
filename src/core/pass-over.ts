// Owns what becomes of the state where a replayed log says nothing: a record whose task is
// forgotten and partly removed already, and numbers without a record. It changes no task.

import type { LogRecord } from '../model/records.ts';
import type { State } from './state.ts';
import { weightOf } from './weights.ts';

/** Of a record whose task is forgotten only its number and time count, and what it takes. */
export function passOver(state: State, record: LogRecord): void {
  state.lastSeq = record.seq;
  state.lastAt = record.at;
  state.weights.forgotten += weightOf(record);
}

/** The numbers up to this one are declared absent: forgotten, or skipped by a restored log. */
export function skipTo(state: State, seq: number): void {
  state.lastSeq = seq;
}
