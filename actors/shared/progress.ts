// Owns the few facts about the coordinator that every thread may look at without asking: its
// phase, how far the replay is, the newest durable record, and the cluster that it belongs to; and
// the copies that the reader sends. One thread writes each word.

import type { Mode } from '../../src/loop/turn.ts';
import type { UnavailableReason } from '../../src/model/refusal.ts';
import { ClusterNote, NOTE_BYTES } from './cluster-note.ts';
import { COPIES_BYTES, CopiesNote } from './copies-note.ts';

/**
 * following: another node of the cluster decides, or none does yet. refusing: ready for reads, but
 * the log takes no records now.
 */
export const PHASES = [
  'starting',
  'recovering',
  'ready',
  'refusing',
  'stopping',
  'down',
  'following',
] as const;
export type Phase = (typeof PHASES)[number];

/** What the loop's mode is to those who look from outside. */
export const PHASE_OF: Readonly<Record<Mode, Phase>> = {
  starting: 'recovering',
  serving: 'ready',
  'read-only': 'refusing',
  rebuilding: 'refusing',
  ended: 'down',
};

const PHASE = 0;
const REPLAYED = 1;
const TO_REPLAY = 2;
const DURABLE = 3;
const EPOCH = 4;
const STOPPING = 5;
const AWAITED = 6;
const COMMITTING_SINCE = 7;
const STALLED = 8;
const WORDS = 9;

export class Progress {
  /** What this node knows of its cluster. */
  readonly cluster: ClusterNote;
  readonly copies: CopiesNote;
  readonly #words: BigInt64Array;

  constructor(shared: SharedArrayBuffer) {
    this.#words = new BigInt64Array(shared, 0, WORDS);
    this.cluster = new ClusterNote(shared, WORDS * 8);
    this.copies = new CopiesNote(shared, WORDS * 8 + NOTE_BYTES);
  }

  static share(): SharedArrayBuffer {
    return new SharedArrayBuffer(WORDS * 8 + NOTE_BYTES + COPIES_BYTES);
  }

  /** The process is going down as soon as the supervisor says so, whatever the coordinator does. */
  get phase(): Phase {
    if (this.#get(STOPPING) === 1) return 'stopping';
    const phase = PHASES[this.#get(PHASE)] as Phase;
    return phase === 'ready' && this.stalled ? 'refusing' : phase;
  }

  /** For the coordinator's thread, and for the supervisor when that thread is dead. */
  set phase(phase: Phase) {
    this.#set(PHASE, PHASES.indexOf(phase));
  }

  /** For the supervisor, once. */
  stopping(): void {
    this.#set(STOPPING, 1);
  }

  /** Records replayed so far, of so many. */
  get replay(): { records: number; of: number } {
    return { records: this.#get(REPLAYED), of: this.#get(TO_REPLAY) };
  }

  set replay({ records, of }: { records: number; of: number }) {
    this.#set(TO_REPLAY, of);
    this.#set(REPLAYED, records);
  }

  /** Number of the newest record that readers may see. */
  get durable(): number {
    return this.#get(DURABLE);
  }

  set durable(seq: number) {
    this.#set(DURABLE, seq);
  }

  /**
   * Since when a commit has been under way, on the clock that all threads share, in ms; 0 when
   * none is. The coordinator's thread can do nothing else during a commit. It sets this before the
   * commit begins, because even the beginning can wait for another process that holds LMDB's own
   * lock.
   */
  get committingSince(): number {
    return this.#get(COMMITTING_SINCE);
  }

  set committingSince(ms: number) {
    this.#set(COMMITTING_SINCE, Math.ceil(ms));
  }

  /** For the supervisor: a commit takes so long that nobody should wait for it. */
  get stalled(): boolean {
    return this.#get(STALLED) === 1;
  }

  set stalled(stalled: boolean) {
    this.#set(STALLED, stalled ? 1 : 0);
  }

  /** For the reader's thread: whether anybody there waits for the next durable record. */
  get awaited(): boolean {
    return this.#get(AWAITED) === 1;
  }

  set awaited(awaited: boolean) {
    this.#set(AWAITED, awaited ? 1 : 0);
  }

  get epoch(): number {
    return this.#get(EPOCH);
  }

  set epoch(seq: number) {
    this.#set(EPOCH, seq);
  }

  /**
   * @returns the reason with which an ingress refuses before the mailbox, or undefined: offer
   * it.
   */
  refusal(): UnavailableReason | undefined {
    if (this.stalled) return 'log_unavailable';
    switch (this.phase) {
      case 'ready':
      case 'refusing':
        return undefined;
      case 'stopping':
        return 'shutting_down';
      case 'following':
        return 'not_leader';
      default:
        return 'recovering';
    }
  }

  #get(word: number): number {
    return Number(Atomics.load(this.#words, word));
  }

  #set(word: number, value: number): void {
    Atomics.store(this.#words, word, BigInt(value));
  }
}
