// Owns what a run is made of: all of it follows from the seed, each kind of trouble can be taken
// out by name, and the shrinker does nothing else.

import type { ModelKnobs } from './model/decide.ts';
import { Random } from './random.ts';

/** Probabilities for one message, one commit or one step; 0 switches the kind off. */
export interface Troubles {
  readonly drop: number;
  readonly duplicate: number;
  readonly slow: number;
  readonly append: number;
  readonly lostAnswer: number;
  readonly stall: number;
  readonly crash: number;
  readonly takeover: number;
  readonly race: number;
  readonly stop: number;
  readonly restore: number;
  readonly outage: number;
  readonly leave: number;
  readonly removal: number;
  readonly jump: number;
  readonly wallStep: number;
  readonly workerCrash: number;
  readonly workerStall: number;
  readonly stale: number;
  readonly edge: number;
}
export type Trouble = keyof Troubles;

export interface Settings {
  readonly seed: number;
  /** Records after which the run is over. */
  readonly records: number;
  readonly knobs: ModelKnobs;
  readonly troubles: Troubles;
  readonly workers: number;
  readonly queues: number;
  /** Tasks that wait or run, around which submits stop. */
  readonly backlog: number;
  /** What a message takes in ms, each as likely as it often stands here. */
  readonly delays: readonly number[];
  /** How many requests travel in one message at most. */
  readonly batch: number;
  /** Forgotten records are removed in stretches of so many. */
  readonly segmentRecords: number;
  /** Reads, kills, redrives and nonsense for one record. */
  readonly meddling: number;
}

export function settingsOf(seed: number, records: number): Settings {
  const dice = new Random(seed, 'settings');
  const leaseDurationMs = dice.pick([50, 200, 1_000, 5_000]);
  const rate = (usual: number): number => (dice.chance(0.3) ? 0 : usual * dice.pick([0.3, 1, 2]));
  const bad = dice.pick([1, 1, 8]);
  // A short run has its share of disasters too; a long one is not all replay.
  const rough = Math.min(10, 20_000 / records);
  const rare = (usual: number): number => rate(usual * rough);
  return {
    seed,
    records,
    knobs: {
      leaseDurationMs,
      heartbeatIntervalMs: Math.max(1, Math.floor(leaseDurationMs / 3)),
      executionWindowMs: leaseDurationMs * dice.pick([1, 2, 6]),
      maxRetries: dice.pick([0, 1, 2, 5]),
      backoffMs: dice.pick([0, 10, 500]),
      backoffFactor: dice.pick([1, 1.5, 2]),
      poisonThreshold: dice.pick([0, 1, 2, 3, 10]),
      retentionMs: dice.pick([500, 2_000, 10_000]),
      retentionFailedMs: dice.pick([500, 5_000, 20_000]),
      answerMaxBytes: dice.pick([40, 1_000_000]),
    },
    troubles: {
      drop: rate(0.02 * bad),
      duplicate: rate(0.02 * bad),
      slow: rate(0.02 * bad),
      append: rare(0.0003),
      lostAnswer: rare(0.0003),
      stall: rare(0.0003),
      crash: rare(0.00002),
      takeover: rare(0.00002),
      race: rare(0.00002),
      stop: rare(0.00002),
      restore: rare(0.00001),
      outage: rare(0.00003),
      leave: rate(0.001),
      removal: rate(0.3),
      jump: rate(0.0005),
      wallStep: rate(0.001),
      workerCrash: rate(0.01),
      workerStall: rate(0.02),
      stale: rate(0.03),
      edge: rate(0.05),
    },
    workers: dice.pick([1, 3, 10, 20]),
    queues: dice.pick([1, 2, 4]),
    backlog: dice.chance(0.03) ? 1_500 : dice.pick([5, 20, 60]),
    delays: dice.pick([[0], [0, 0, 0, 1], [0, 1, 2, 5]]),
    batch: dice.pick([1, 5, 20]),
    meddling: dice.pick([0.1, 0.1, 0.6]),
    segmentRecords: dice.pick([20, 100, 500]),
  };
}

export const quiet = (troubles: Troubles): Troubles =>
  Object.fromEntries(Object.keys(troubles).map((name) => [name, 0])) as unknown as Troubles;
