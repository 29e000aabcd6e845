// Owns the knobs that the core decides by. The table of all knobs (flags, defaults, ranges) is
// src/settings/knob-table.ts; the core sees only these numbers.

export interface CoreKnobs {
  readonly leaseDurationMs: number;
  readonly heartbeatIntervalMs: number;
  readonly executionWindowMs: number;
  readonly maxRetries: number;
  readonly backoffMs: number;
  readonly backoffFactor: number;
  /** Expiries in a row after which the next grant is refused with TaskDead; 0 = off. */
  readonly poisonThreshold: number;
  /** COMPLETED tasks are forgotten after this; 0 = never. */
  readonly retentionMs: number;
  /** FAILED and DEAD tasks are forgotten after this; 0 = never. */
  readonly retentionFailedMs: number;
  /** A lease answer stops granting once its payloads together pass this. */
  readonly answerMaxBytes: number;
}

/** The knobs by which records are decided. */
export const DECIDING = [
  'leaseDurationMs',
  'heartbeatIntervalMs',
  'executionWindowMs',
  'maxRetries',
  'backoffMs',
  'backoffFactor',
  'poisonThreshold',
  'retentionMs',
  'retentionFailedMs',
] as const satisfies readonly (keyof CoreKnobs)[];

/** The longest duration that the interface takes, 100 years; longer ones are malformed. */
export const DURATION_MAX_MS = 3_153_600_000_000;
