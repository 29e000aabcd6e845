// Owns the way from a log to a state: read every record in order, check it, apply it. It reads no
// clock and guesses nothing: what cannot be believed is named and ends the replay.

import { applyChecked } from '../core/apply.ts';
import { check } from '../core/check.ts';
import { passOver, skipTo } from '../core/pass-over.ts';
import { type DigestText, type Removed, State } from '../core/state.ts';
import { subjectOfRecord } from '../core/subject.ts';
import { LogCorrupt, type LogReader } from '../log/log.ts';
import { type LogRecord, taskOf } from '../model/records.ts';

export interface ReplayOptions {
  readonly digestText: DigestText;
  /** Called every 8 192 records with the number of records applied so far. */
  readonly onProgress?: (records: number) => void;
  /** Stop after this record. */
  readonly until?: number;
  /** Asked after each record: true stops after it. */
  readonly isEnough?: (state: State, record: LogRecord) => boolean;
}

export interface Replayed {
  readonly state: State;
  readonly records: number;
}

const PROGRESS_EVERY = 8_192;

/** What the log has dropped, and the tasks that replay therefore forgets earlier. */
class Gone implements Removed {
  private readonly log: LogReader;
  private readonly tasks = new Set<number>();
  private isOver = false;

  constructor(log: LogReader) {
    this.log = log;
  }

  has(seq: number): boolean {
    return this.log.dropped.has(seq) || this.tasks.has(seq);
  }

  add(taskId: number): void {
    if (!this.isOver) this.tasks.add(taskId);
  }

  /** Only replay asks for these tasks, but the state goes on forgetting for years. */
  end(): void {
    this.isOver = true;
    this.tasks.clear();
  }
}

/** @throws LogCorrupt naming the first record that is damaged, missing or cannot have happened. */
export function replay(log: LogReader, options: ReplayOptions): Replayed {
  const steps = replaying(log, options);
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return step.value;
    options.onProgress?.(step.value);
  }
}

/**
 * The same in steps, between which the caller may do something else.
 * @yields the number of records applied so far, every 8 192 records. @throws LogCorrupt
 */
export function* replaying(log: LogReader, options: ReplayOptions): Generator<number, Replayed> {
  const gone = new Gone(log);
  const state = new State(options.digestText, gone);
  let records = 0;
  for (const record of log.read(1, options.until)) {
    const task = taskOf(record);
    if (record.seq !== state.lastSeq + 1) skipDropped(state, log, record.seq);
    if (task !== 0 && state.removed.has(task)) {
      // The task's history was forgotten and part of it is removed already: this rest says nothing.
      passOver(state, record);
    } else {
      const subject = subjectOfRecord(state, record);
      const refused = check(state, record, subject);
      if (refused !== undefined) throw new LogCorrupt(record.seq, `${record.type}: ${refused}`);
      applyChecked(state, record, subject);
    }
    records += 1;
    if (options.isEnough?.(state, record) === true) break;
    if (records % PROGRESS_EVERY === 0) yield records;
  }
  gone.end();
  return { state, records };
}

/** Numbers may be absent only where the log declares it. */
function skipDropped(state: State, log: LogReader, seq: number): void {
  for (let missing = state.lastSeq + 1; missing < seq; ) {
    const end = log.dropped.endOfRange(missing);
    if (end === 0) throw new LogCorrupt(missing, 'missing');
    missing = end + 1;
  }
  skipTo(state, seq - 1);
}
