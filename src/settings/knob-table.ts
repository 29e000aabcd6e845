// Owns the table of all knobs: name, range, default, unit and words. Flags, environment variables,
// the file's keys, /v1/config and the documentation are made from it. Reading them is settings.ts.

import type { CoreKnobs } from '../model/knobs.ts';
import { DURATION_MAX_MS } from '../model/knobs.ts';
import { CLUSTER_KNOBS, type ClusterKnobValues } from './cluster-knobs.ts';
import { bytes, DAY_MS, duration, type Knob, MEBIBYTE, port, text, whole } from './knob.ts';

export const LOG_LEVELS = ['error', 'warn', 'info', 'debug', 'silent'] as const;
export type LogLevelKnob = (typeof LOG_LEVELS)[number];

/** The effective value of every knob. What the core decides by is a part of them. */
export interface KnobValues extends Omit<CoreKnobs, 'answerMaxBytes'>, ClusterKnobValues {
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

const COUNT_MAX = 1_000_000_000;
/** What the system has room for; it would listen at a path that is cut off there. */
const SOCKET_PATH_MAX_BYTES = process.platform === 'darwin' ? 103 : 107;

export const KNOBS: Readonly<Record<KnobName, Knob>> = {
  dataDir: text('./leasehold-data', 'directory of the log'),
  leaseDurationMs: duration(1, 30_000, 'how long a lease lasts without a heartbeat'),
  heartbeatIntervalMs: {
    kind: 'whole',
    min: 1,
    max: DURATION_MAX_MS,
    unit: 'ms',
    help: 'pause between heartbeats; at most half of the lease duration, by default a third',
  },
  executionWindowMs: duration(1, 3_600_000, 'longest time that one attempt may hold its lease'),
  maxRetries: whole(
    0,
    COUNT_MAX,
    3,
    'attempts after the first one, before a failure ends the task',
  ),
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
    'size at which a segment (a file of the log) is full',
  ),
  ...CLUSTER_KNOBS,
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
