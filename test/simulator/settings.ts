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
  // A throw of its own for each name: a new setting leaves all others of a seed as they were.
  const dice = (name: string): Random => new Random(seed, name);
  const pick = <T>(name: string, items: readonly T[]): T => dice(name).pick(items);
  const rate = (name: string, usual: number): number => {
    const own = dice(name);
    return own.chance(0.3) ? 0 : usual * own.pick([0.3, 1, 2]);
  };
  // A short run has its share of disasters too; a long one is not all replay.
  const rough = Math.min(10, 20_000 / records);
  const rare = (name: string, usual: number): number => rate(name, usual * rough);
  const bad = pick('bad network', [1, 1, 8]);
  const leaseDurationMs = pick('leaseDurationMs', [50, 200, 1_000, 5_000]);
  return {
    seed,
    records,
    knobs: {
      leaseDurationMs,
      heartbeatIntervalMs: Math.max(1, Math.floor(leaseDurationMs / 3)),
      executionWindowMs: leaseDurationMs * pick('executionWindowMs', [1, 2, 6]),
      maxRetries: pick('maxRetries', [0, 1, 2, 5]),
      backoffMs: pick('backoffMs', [0, 10, 500]),
      backoffFactor: pick('backoffFactor', [1, 1.5, 2]),
      poisonThreshold: pick('poisonThreshold', [0, 1, 2, 3, 10]),
      retentionMs: pick('retentionMs', [500, 2_000, 10_000]),
      retentionFailedMs: pick('retentionFailedMs', [500, 5_000, 20_000]),
      answerMaxBytes: pick('answerMaxBytes', [40, 1_000_000]),
    },
    troubles: {
      drop: rate('drop', 0.02 * bad),
      duplicate: rate('duplicate', 0.02 * bad),
      slow: rate('slow', 0.02 * bad),
      append: rare('append', 0.0003),
      lostAnswer: rare('lostAnswer', 0.0003),
      stall: rare('stall', 0.0003),
      crash: rare('crash', 0.00002),
      takeover: rare('takeover', 0.00002),
      race: rare('race', 0.00002),
      stop: rare('stop', 0.00002),
      restore: rare('restore', 0.00002),
      outage: rare('outage', 0.00003),
      leave: rate('leave', 0.001),
      removal: rate('removal', 0.3),
      jump: rate('jump', 0.0005),
      wallStep: rate('wallStep', 0.001),
      workerCrash: rate('workerCrash', 0.01),
      workerStall: rate('workerStall', 0.02),
      stale: rate('stale', 0.03),
      edge: rate('edge', 0.05),
    },
    workers: pick('workers', [1, 3, 10, 20]),
    queues: pick('queues', [1, 2, 4]),
    backlog: dice('crowd').chance(0.03) ? 1_500 : pick('backlog', [5, 20, 60]),
    delays: pick('delays', [[0], [0, 0, 0, 1], [0, 1, 2, 5]]),
    batch: pick('batch', [1, 5, 20]),
    meddling: pick('meddling', [0.1, 0.1, 0.6]),
    segmentRecords: pick('segmentRecords', [20, 100, 500]),
  };
}

export const quiet = (troubles: Troubles): Troubles =>
  Object.fromEntries(Object.keys(troubles).map((name) => [name, 0])) as unknown as Troubles;
