// Owns when forgotten history leaves the device: after its HistoryForgotten is flushed, and after
// the archive has it where there is one, sealed stretch by sealed stretch in ascending order, in
// the background (R32). It never decides what is forgotten, and removing the same again is
// harmless. A stretch is rewritten again only when the forgetting has come as far beyond its end
// again as at the last time, so that the rewrites of one stretch stay few however long a task in it
// waits; and neighbours that became small become one. What says that history was forgotten goes too
// when nothing is left of that history.

import { type HistoryForgotten, type LogRecord, taskOf } from './core/records.ts';
import type { State } from './core/state.ts';
import { NONE } from './core/task-table.ts';
import { weightOf } from './core/weights.ts';
import type { Archive, Log, SealedSegment } from './log/log.ts';

/** So many HistoryForgotten, or as many as there are tasks, may wait for stretches before them. */
const HELD_BACK_MAX = 10_000;

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
  /** Last number of a stretch → the newest HistoryForgotten of which it holds no task any more. */
  private readonly sweptAt = new Map<number, number>();
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
    this.begin(record.completedThrough, record.failedThrough);
  }

  /** The log was replayed: all that it forgot is flushed. */
  begin(completedThrough: number, failedThrough: number): void {
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
      let sweptAt = this.state().forgottenAt;
      for (const segment of this.log.sealed()) {
        if (this.ending.signal.aborted) return;
        if (this.through >= (this.dueAt.get(segment.last) ?? segment.last)) {
          await this.rewrite(segment, sweptAt);
        }
        sweptAt = Math.min(sweptAt, this.sweptAt.get(segment.last) ?? 0);
      }
      await this.mergeSmall();
    } catch (error) {
      if (!this.ending.signal.aborted) this.events.stopped?.(error as Error);
    } finally {
      this.busy = false;
    }
  }

  /** As far as anything is forgotten, so that the archive has the end of every story it begins. */
  private async keepInArchive(): Promise<void> {
    if (this.archive === undefined) return;
    for (const segment of this.log.sealed()) {
      if (segment.first > this.through || this.ending.signal.aborted) return;
      await this.archive.keep(segment, this.ending.signal);
      this.steps += 1;
    }
  }

  /** @param sweptAt of all stretches before it. */
  private async rewrite(segment: SealedSegment, sweptAt: number): Promise<void> {
    const { forgottenAt, tasks } = this.state();
    const forgettings = new Forgettings(sweptAt);
    let weight = 0;
    const keep = (record: LogRecord): boolean => {
      const isKept =
        record.type === 'HistoryForgotten'
          ? forgettings.isKept(record.seq)
          : this.isKept(segment, record);
      if (!isKept) weight += weightOf(record);
      return isKept;
    };
    const records = await this.log.rewrite(segment, keep, this.ending.signal);
    this.steps += 1;
    this.sweptAt.set(segment.last, forgottenAt);
    this.dueAt.set(segment.last, this.through + this.pauseAfter(segment));
    // The next pass looks at every stretch: after that none of them is held back.
    if (forgettings.heldBack >= Math.max(HELD_BACK_MAX, tasks.size)) this.dueAt.clear();
    this.goneOf(this.state()).weight += weight;
    if (records > 0) this.events.removed?.(segment, records);
  }

  /** In numbers: never less than what a stretch holds that nothing was removed from yet. */
  private pauseAfter({ last }: SealedSegment): number {
    const newest = this.log.sealed().at(-1);
    const fresh = newest === undefined ? 1 : newest.last - newest.first + 1;
    return Math.max(fresh, this.through - last);
  }

  /** A stretch of several is looked at again when its last part would have been. */
  private async mergeSmall(): Promise<void> {
    while (!this.ending.signal.aborted) {
      const merged = await this.log.merge(this.ending.signal);
      if (merged === undefined) break;
      this.steps += 1;
      const parts = [...this.sweptAt].filter(([last]) => merged.first <= last);
      const ofParts = parts.filter(([last]) => last <= merged.last).map(([, at]) => at);
      this.sweptAt.set(merged.last, Math.min(...ofParts));
    }
    const ends = new Set(this.log.sealed().map(({ last }) => last));
    for (const known of [this.dueAt, this.sweptAt]) {
      for (const last of known.keys()) if (!ends.has(last)) known.delete(last);
    }
  }

  /**
   * What follows a TaskCreated goes only when that is gone, or goes with it: replay passes over the
   * records of a task that was dropped, and would find holes in one that was not.
   */
  private isKept(segment: SealedSegment, record: LogRecord): boolean {
    const task = taskOf(record);
    if (task === 0 || this.state().tasks.find(task) !== NONE) return true;
    return task < segment.first && !this.log.dropped.has(task);
  }
}

/**
 * Which HistoryForgotten of one stretch replay still needs: the first, which says how far things
 * were when the log is read no further; and each that forgot a task which may still be in a stretch
 * before this one, for until it is forgotten its request id cannot be taken again. What the others
 * say the newest says too, and that is in no stretch yet, or not before `sweptAt`.
 */
class Forgettings {
  /** Of those that were kept, how many are kept because of stretches before. */
  heldBack = 0;
  private readonly sweptAt: number;
  private seen = 0;

  constructor(sweptAt: number) {
    this.sweptAt = sweptAt;
  }

  isKept(seq: number): boolean {
    this.seen += 1;
    if (this.seen === 1) return true;
    if (seq < this.sweptAt) return false;
    this.heldBack += 1;
    return true;
  }
}
