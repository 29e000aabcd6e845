// Owns the way from a log to a state: read every record in order, check it, apply it. It reads no
// clock and guesses nothing: the first record that cannot be believed is named and ends the
// replay.

import { applyChecked } from '../core/apply.ts';
import { check } from '../core/check.ts';
import { passOver, skipTo } from '../core/replay-gaps.ts';
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

/** The numbers that a log has dropped, also those that it drops from now on. */
type Dropping = Pick<LogReader, 'dropped'>;

/** What the log has dropped, and the tasks that replay therefore forgets earlier. */
class Gone implements Removed {
  private readonly log: Dropping;
  private readonly tasks = new Set<number>();
  private isOver = false;

  constructor(log: Dropping) {
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

/**
 * A replay that is handed one record after the other. A coordinator that follows another one's log
 * uses it: its state is ready when it has to take over.
 */
export class Replayer {
  readonly state: State;
  private readonly log: Dropping;
  private readonly gone: Gone;

  constructor(log: Dropping, digestText: DigestText) {
    this.log = log;
    this.gone = new Gone(log);
    this.state = new State(digestText, this.gone);
  }

  /**
   * Checks and applies the next record.
   * @throws LogCorrupt naming the first record that is damaged, missing or cannot have happened.
   */
  feed(record: LogRecord): void {
    const { state } = this;
    const task = taskOf(record);
    if (record.seq !== state.lastSeq + 1) skipDropped(state, this.log, record.seq);
    if (task !== 0 && state.removed.has(task)) {
      // The task was forgotten and some of its records are removed: the remaining ones say
      // nothing.
      passOver(state, record);
      return;
    }
    const subject = subjectOfRecord(state, record);
    const refused = check(state, record, subject);
    if (refused !== undefined) throw new LogCorrupt(record.seq, `${record.type}: ${refused}`);
    applyChecked(state, record, subject);
  }

  /** Nothing more is fed. @returns the state, which a coordinator may go on from. */
  end(): State {
    this.gone.end();
    return this.state;
  }
}

/** @throws LogCorrupt naming the first record that is damaged, missing or cannot have happened. */
export function replay(log: LogReader, options: ReplayOptions): Replayed {
  return replayRest(new Replayer(log, options.digestText), log, options);
}

/**
 * The same in steps, between which the caller may do something else.
 * @yields the number of records applied so far, every 8 192 records. @throws LogCorrupt
 */
export const replaying = (log: LogReader, options: ReplayOptions): Generator<number, Replayed> =>
  replayingRest(new Replayer(log, options.digestText), log, options);

type RestOptions = Omit<ReplayOptions, 'digestText'>;

/**
 * Feeds what the log holds behind the records that were fed already.
 * @returns the state, and how many records were fed now. @throws LogCorrupt as `replay`.
 */
export function replayRest(replayer: Replayer, log: LogReader, options: RestOptions): Replayed {
  const steps = replayingRest(replayer, log, options);
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return step.value;
    options.onProgress?.(step.value);
  }
}

function* replayingRest(
  replayer: Replayer,
  log: LogReader,
  { until, isEnough }: RestOptions,
): Generator<number, Replayed> {
  const { state } = replayer;
  // A state that was made ready may rest on records that the log has lost since.
  if (state.lastSeq > log.lastNumber) {
    throw new LogCorrupt(log.lastNumber + 1, 'missing, and known to the state that is ready');
  }
  let records = 0;
  for (const record of log.read(state.lastSeq + 1, until)) {
    replayer.feed(record);
    records += 1;
    if (isEnough?.(state, record) === true) break;
    if (records % PROGRESS_EVERY === 0) yield records;
  }
  return { state: replayer.end(), records };
}

/** Numbers may be absent only where the log declares it. */
function skipDropped(state: State, log: Dropping, seq: number): void {
  for (let missing = state.lastSeq + 1; missing < seq; ) {
    const end = log.dropped.endOfRange(missing);
    if (end === 0) throw new LogCorrupt(missing, 'missing');
    missing = end + 1;
  }
  skipTo(state, seq - 1);
}
