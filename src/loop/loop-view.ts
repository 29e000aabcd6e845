// Owns what may be seen of the loop from outside: by its thread, by metrics and by tests. Each
// property shows the present, so a view is made once; nothing can be changed through it.

import type { State } from '../core/state.ts';
import type { Granting } from './granting.ts';
import type { GroupCommit } from './group-commit.ts';
import type { Recovery } from './recovery.ts';
import type { Removal } from './removal.ts';
import type { Mode } from './turn.ts';

export interface LoopParts {
  readonly commits: GroupCommit;
  readonly granting: Granting;
  readonly recovery: Recovery;
  readonly removal: Removal;
}

export type LoopHistograms = ReturnType<GroupCommit['figures']> & ReturnType<Granting['figures']>;

export class LoopView {
  readonly #parts: LoopParts;

  constructor(parts: LoopParts) {
    this.#parts = parts;
  }

  /** What the log says up to the newest record, whether that is flushed or not. */
  get state(): State {
    return this.#parts.recovery.state;
  }

  get mode(): Mode {
    return this.#parts.recovery.mode;
  }

  /** Of the last start or rebuild. */
  get replayMs(): number {
    return this.#parts.recovery.replayMs;
  }

  get replayRecords(): number {
    return this.#parts.recovery.replayRecords;
  }

  /** Coordinator time minus the wall clock. */
  get clockOffsetMs(): number {
    return this.#parts.recovery.time.offset();
  }

  /** Requests that wait for a task to become eligible, or for one to end. */
  get parkedRequests(): number {
    return this.#parts.granting.parked.size;
  }

  /** Whether a group is on its way to the device. */
  get isCommitting(): boolean {
    return this.#parts.commits.busy;
  }

  /** Of the newest commit that was tried. */
  get lastCommitMs(): number {
    return this.#parts.commits.lastMs;
  }

  /** Records wait for a flush, and no commit is under way after which they would get one. */
  get isFlushDue(): boolean {
    return this.#parts.commits.isFlushDue;
  }

  /** Whether all that was decided is durable. */
  get isIdle(): boolean {
    return this.#parts.commits.idle;
  }

  /** Records of the group that gathers. */
  get gatheredRecords(): number {
    return this.#parts.commits.gathered;
  }

  /** Bytes of payloads and results that wait behind the group in flight. */
  get gatheredBytes(): number {
    return this.#parts.commits.gatheredBytes;
  }

  /** Whether forgotten history is being removed from the device. */
  get isRemoving(): boolean {
    return this.#parts.removal.busy;
  }

  /** Steps of the removal since the start. One that stands still while it runs is stuck. */
  get removalSteps(): number {
    return this.#parts.removal.steps;
  }

  /** The log's size on the device, and the share of it that nothing remembered needs. */
  logBytes(): { readonly total: number; readonly forgotten: number } {
    return this.#parts.removal.bytes();
  }

  histograms(): LoopHistograms {
    return { ...this.#parts.commits.figures(), ...this.#parts.granting.figures() };
  }
}
