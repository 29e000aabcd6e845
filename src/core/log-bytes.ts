// Owns how many bytes of the log the records of each task take. The weights are folded from the
// records, so the share of forgotten history is known at any moment and right after a restart.
// They are a measure for operators: no decision uses them, and the state's digest leaves them out.

import type { LogRecord } from '../model/records.ts';
import type { State } from './state.ts';
import { NONE } from './task-table.ts';

/** About what a record takes besides its texts and bytes: its key, its checksum, its numbers. */
const FIXED_BYTES = 48;

/** About the bytes of a record in any log that keeps it by its number. */
export function weightOf(record: LogRecord): number {
  switch (record.type) {
    case 'TaskCreated': {
      let bytes = FIXED_BYTES + record.payload.length + record.queue.length;
      if (record.requestId !== undefined) bytes += record.requestId.length + 16;
      if (record.metadata !== undefined) bytes += textBytes(record.metadata);
      return bytes;
    }
    case 'TaskCompleted':
      return FIXED_BYTES + (record.result?.length ?? 0);
    case 'TaskFailed':
      return FIXED_BYTES + record.failureReason.length;
    case 'TaskDead':
      return FIXED_BYTES + record.reason.length;
    case 'LeaseGranted':
      return FIXED_BYTES + record.workerId.length;
    default:
      return FIXED_BYTES;
  }
}

/** Of a record that was applied. @param row that of its task; NONE: it is about no task. */
export function weigh(state: State, record: LogRecord, row: number): void {
  const weight = weightOf(record);
  state.weights.live += weight;
  if (row !== NONE) state.tasks.addWeight(row, weight);
}

/** The task in this row leaves the state; its records stay in the log until they are removed. */
export function forgetWeight(state: State, row: number): void {
  const weight = state.tasks.weight(row);
  state.weights.live -= weight;
  state.weights.forgotten += weight;
}

function textBytes(metadata: Readonly<Record<string, string>>): number {
  let bytes = 0;
  for (const [key, text] of Object.entries(metadata)) bytes += key.length + text.length;
  return bytes;
}
