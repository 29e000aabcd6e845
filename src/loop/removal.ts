// Owns when forgotten history leaves the device (R32): in the background, one sealed segment after
// the other, in ascending order. A segment is rewritten only after its HistoryForgotten is flushed
// and, where there is an archive, only after the archive has the segment. It never decides what is
// forgotten, and removing the same history again is harmless.
//
// A task that waits long keeps its segment from becoming empty. So a segment is rewritten again
// only when the forgetting has come as far beyond its end again as at the last time: its rewrites
// stay few. Small neighbours are merged.

import { weightOf } from '../core/log-bytes.ts';
import type { State } from '../core/state.ts';
import { NONE } from '../core/task-table.ts';
import type { Archive, Log, SealedSegment } from '../log/log.ts';
import { type HistoryForgotten, type LogRecord, taskOf } from '../model/records.ts';

/** Told to whoever wants to know. */
export interface RemovalEvents {
  removed?(segment: SealedSegment, records: number): void;
  /** The pass stopped; it is tried again when more has been forgotten. */
  stopped?(error: Error): void;
}

export interface RemovalOptions {
  readonly log: Log;
  readonly archive?: Archive | undefined;
  readonly events: RemovalEvents;
}

type Forgotten = Pick<HistoryForgotten, 'completedThrough' | 'failedThrough'>;

export class Removal {
  /** While a pass runs nothing more may be forgotten: what is not flushed yet must stay. */
  busy = false;
  /** Steps that were done since the start: a busy pass in which it stands still is stuck. */
  steps = 0;
  private readonly log: Log;
  private readonly archive: Archive | undefined;
  private readonly state: () => State;
  private readonly events: RemovalEvents;
  private readonly ending = new AbortController();
  private passing: Promise<void> = Promise.resolve();
  private unflushed: HistoryForgotten | undefined;
  /** How far flushed records have forgotten. */
  private through = 0;
  /** Last number of a stretch → how far the forgetting must come before it is rewritten again. */
  private readonly dueAt = new Map<number, number>();
  /** What was removed of the history that this state has forgotten. */
  private gone: { readonly state: State; weight: number } | undefined;

  constructor({ log, archive, events }: RemovalOptions, state: () => State) {
    this.log = log;
    this.archive = archive;
    this.state = state;
    this.events = events;
  }

  noticed(record: LogRecord): void {
    if (record.type === 'HistoryForgotten') this.unflushed = record;
  }

  /** The records up to this number are on the device. */
  durable(lastSeq: number): void {
    const record = this.unflushed;
    if (record === undefined || record.seq > lastSeq) return;
    this.unflushed = undefined;
    this.begin(record);
  }

  /** The log was replayed: all that it forgot is flushed. */
  begin({ completedThrough, failedThrough }: Forgotten): void {
    this.through = Math.max(this.through, completedThrough, failedThrough);
    if (!this.busy && !this.ending.signal.aborted) this.passing = this.pass();
  }

  /** The log's size on the device, and the share of it that nothing remembered needs. */
  bytes(): { readonly total: number; readonly forgotten: number } {
    const { total } = this.log.bytes();
    const state = this.state();
    const { live, forgotten } = state.weights;
    const left = Math.max(0, forgotten - this.goneOf(state).weight);
    return { total, forgotten: left === 0 ? 0 : Math.round((total * left) / (live + left)) };
  }

  /** A replay does not see what is gone already. */
  private goneOf(state: State): { weight: number } {
    if (this.gone?.state !== state) this.gone = { state, weight: 0 };
    return this.gone;
  }

  /** Gives up what it was doing, soon; resolves when no pass runs, and none will begin. */
  async stop(): Promise<void> {
    this.ending.abort();
    await this.passing;
  }

  private async pass(): Promise<void> {
    this.busy = true;
    try {
      await this.keepInArchive();
      for (const segment of this.log.sealed()) {
        if (this.ending.signal.aborted) return;
        if (this.through >= (this.dueAt.get(segment.last) ?? segment.last)) {
          await this.rewrite(segment);
        }
      }
      await this.mergeSmall();
    } catch (error) {
      // Later segments must wait: the one that failed may have the TaskCreated of their records.
      if (!this.ending.signal.aborted) this.events.stopped?.(error as Error);
    } finally {
      this.busy = false;
    }
  }

  /**
   * Covers every segment that forgotten history touches: the archive then has the end of each
   * task's story that it begins.
   */
  private async keepInArchive(): Promise<void> {
    if (this.archive === undefined) return;
    for (const segment of this.log.sealed()) {
      if (segment.first > this.through || this.ending.signal.aborted) return;
      await this.archive.keep(segment, this.ending.signal);
      this.steps += 1;
    }
  }

  private async rewrite(segment: SealedSegment): Promise<void> {
    let weight = 0;
    const keep = (record: LogRecord): boolean => {
      const isKept = this.isKept(segment, record);
      if (!isKept) weight += weightOf(record);
      return isKept;
    };
    const records = await this.log.rewrite(segment, keep, this.ending.signal);
    this.steps += 1;
    this.dueAt.set(segment.last, this.through + this.pauseAfter(segment));
    this.goneOf(this.state()).weight += weight;
    if (records > 0) this.events.removed?.(segment, records);
  }

  /** Counted in record numbers: at least as many as a segment holds before any removal. */
  private pauseAfter({ last }: SealedSegment): number {
    const newest = this.log.sealed().at(-1);
    const fresh = newest === undefined ? 1 : newest.last - newest.first + 1;
    return Math.max(fresh, this.through - last);
  }

  /** A merged segment is looked at again when its last part would have been. */
  private async mergeSmall(): Promise<void> {
    while (
      !this.ending.signal.aborted &&
      (await this.log.merge(this.ending.signal)) !== undefined
    ) {
      this.steps += 1;
    }
    const ends = new Set(this.log.sealed().map(({ last }) => last));
    for (const last of this.dueAt.keys()) if (!ends.has(last)) this.dueAt.delete(last);
  }

  /**
   * A task's later records may go only when its TaskCreated is gone or goes in this rewrite.
   * Replay passes over the records of a task without a TaskCreated. In a task that still has one,
   * it would take a missing record for damage.
   */
  private isKept(segment: SealedSegment, record: LogRecord): boolean {
    const task = taskOf(record);
    if (task === 0 || this.state().tasks.find(task) !== NONE) return true;
    return task < segment.first && !this.log.dropped.has(task);
  }
}
