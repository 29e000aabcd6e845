// Owns the table of all knobs: name, range, default, unit and words. Flags, environment variables,
// the file's keys, /v1/config and the documentation are made from it. Reading them is settings.ts.

import type { CoreKnobs } from '../model/knobs.ts';
import { DURATION_MAX_MS } from '../model/knobs.ts';

export const LOG_LEVELS = ['error', 'warn', 'info', 'debug', 'silent'] as const;
export type LogLevelKnob = (typeof LOG_LEVELS)[number];

/** The effective value of every knob. What the core decides by is a part of them. */
export interface KnobValues extends Omit<CoreKnobs, 'answerMaxBytes'> {
  readonly dataDir: string;
  readonly archiveDir: string | undefined;
  readonly tickMs: number;
  readonly httpHost: string;
  readonly httpPort: number;
  readonly socketHost: string;
  readonly socketPort: number;
  readonly socketPath: string | undefined;
  readonly mailboxMax: number;
  readonly mailboxMaxBytes: number;
  readonly batchMaxBytes: number;
  readonly payloadMaxBytes: number;
  readonly tokenFile: string | undefined;
  readonly logLevel: LogLevelKnob;
  readonly segmentBytes: number;
  readonly acceptClock: boolean;
}
export type KnobName = keyof KnobValues;

interface Words {
  readonly help: string;
  readonly unit?: 'ms' | 'bytes';
}
export type Knob = Words &
  (
    | {
        readonly kind: 'whole';
        readonly min: number;
        readonly max: number;
        readonly default?: number;
      }
    | {
        readonly kind: 'number';
        readonly min: number;
        readonly max: number;
        readonly default: number;
      }
    | { readonly kind: 'text'; readonly default?: string; readonly maxBytes?: number }
    | { readonly kind: 'choice'; readonly choices: readonly string[]; readonly default: string }
    | { readonly kind: 'switch'; readonly default: false }
  );

const DAY_MS = 86_400_000;
const MEBIBYTE = 1_048_576;
const COUNT_MAX = 1_000_000_000;
/** What the system has room for; it would listen at a path that is cut off there. */
const SOCKET_PATH_MAX_BYTES = process.platform === 'darwin' ? 103 : 107;

const duration = (min: 0 | 1, standard: number, help: string): Knob => ({
  kind: 'whole',
  min,
  max: DURATION_MAX_MS,
  default: standard,
  unit: 'ms',
  help,
});
const bytes = (min: number, max: number, standard: number, help: string): Knob => ({
  kind: 'whole',
  min,
  max,
  default: standard,
  unit: 'bytes',
  help,
});
const port = (standard: number, help: string): Knob => ({
  kind: 'whole',
  min: 0,
  max: 65_535,
  default: standard,
  help,
});
const whole = (min: number, max: number, standard: number, help: string): Knob => ({
  kind: 'whole',
  min,
  max,
  default: standard,
  help,
});
const text = (standard: string | undefined, help: string): Knob =>
  standard === undefined ? { kind: 'text', help } : { kind: 'text', default: standard, help };

export const KNOBS: Readonly<Record<KnobName, Knob>> = {
  dataDir: text('./leasehold-data', 'directory of the log'),
  leaseDurationMs: duration(1, 30_000, 'how long a lease lasts without a heartbeat'),
  heartbeatIntervalMs: {
    kind: 'whole',
    min: 1,
    max: DURATION_MAX_MS,
    unit: 'ms',
    help: 'pause between heartbeats; default a third of the lease duration, at most half of it',
  },
  executionWindowMs: duration(1, 3_600_000, 'longest time that one attempt may hold its lease'),
  maxRetries: whole(0, COUNT_MAX, 3, 'further attempts after a failed one'),
  backoffMs: duration(0, 30_000, 'pause between a failure and the retry'),
  backoffFactor: {
    kind: 'number',
    min: 1,
    max: 100,
    default: 1,
    help: 'factor by which the pause grows with each further failure',
  },
  poisonThreshold: whole(0, COUNT_MAX, 10, 'expiries in a row that make a task DEAD; 0: never'),
  retentionMs: duration(0, 7 * DAY_MS, 'how long COMPLETED tasks are remembered; 0: for ever'),
  retentionFailedMs: duration(
    0,
    90 * DAY_MS,
    'how long FAILED and DEAD tasks are remembered; 0: for ever',
  ),
  archiveDir: text(
    undefined,
    'directory to which history is copied before it is removed from the log',
  ),
  tickMs: { ...whole(1, 60_000, 50, 'pause between two checks for expired leases'), unit: 'ms' },
  httpHost: text('127.0.0.1', 'address that HTTP listens on'),
  httpPort: port(5_327, 'port that HTTP listens on; 0: any free one'),
  socketHost: text('127.0.0.1', 'address that the JSON-RPC socket listens on'),
  socketPort: port(5_328, 'port that the JSON-RPC socket listens on; 0: any free one'),
  socketPath: {
    kind: 'text',
    maxBytes: SOCKET_PATH_MAX_BYTES,
    help: 'path of a Unix socket to listen on as well',
  },
  mailboxMax: whole(8, 2 ** 30, 65_536, 'requests that may wait for the coordinator'),
  mailboxMaxBytes: bytes(
    65_536,
    2 ** 30,
    64 * MEBIBYTE,
    'bytes of requests that may wait for the coordinator',
  ),
  batchMaxBytes: bytes(
    1_024,
    256 * MEBIBYTE,
    16 * MEBIBYTE,
    'the largest batch, and the largest answer to a lease request',
  ),
  payloadMaxBytes: bytes(1, 64 * MEBIBYTE, MEBIBYTE, 'the largest payload or result'),
  tokenFile: text(undefined, 'file with the token that every request must carry'),
  logLevel: {
    kind: 'choice',
    choices: LOG_LEVELS,
    default: 'info',
    help: 'the least severe messages that are logged',
  },
  segmentBytes: bytes(
    MEBIBYTE,
    2 ** 36,
    256 * MEBIBYTE,
    'size at which a segment of the log is full',
  ),
  acceptClock: {
    kind: 'switch',
    default: false,
    help: 'start even if the clock is more than 365 days after the newest record',
  },
};
export const KNOB_NAMES = Object.keys(KNOBS) as readonly KnobName[];

/** lease_duration_ms: the key in the file and in /v1/config. */
export const keyOf = (name: KnobName): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
/** --lease-duration-ms */
export const flagOf = (name: KnobName): string => `--${keyOf(name).replaceAll('_', '-')}`;
/** LEASEHOLD_LEASE_DURATION_MS */
export const variableOf = (name: KnobName): string => `LEASEHOLD_${keyOf(name).toUpperCase()}`;

/** Whether the knob is a duration, which may be written with a unit. */
export const isDuration = ({ unit }: Knob): boolean => unit === 'ms';

/** @returns what may be given, in words. */
export function rangeOf(knob: Knob): string {
  const unit = knob.unit === undefined ? '' : ` (${knob.unit})`;
  switch (knob.kind) {
    case 'whole':
      if (isDuration(knob)) return `a duration from ${knob.min} to ${knob.max} ms`;
      return `a whole number from ${knob.min} to ${knob.max}${unit}`;
    case 'number':
      return `a number from ${knob.min} to ${knob.max}`;
    case 'choice':
      return `one of ${knob.choices.join(', ')}`;
    case 'text':
      return knob.maxBytes === undefined
        ? 'a text that is not empty'
        : `a text of 1 to ${knob.maxBytes} bytes`;
    case 'switch':
      return 'true or false';
  }
}
