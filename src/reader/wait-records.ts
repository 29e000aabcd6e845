// Owns what other tasks' records tell of a task's waits: which other tasks were granted between its
// being eligible and its grant, and what the worker that got it had held. It looks at a bounded
// number of records; a wait with more of them is left untold.

import type { Between, FreedLease } from '../explain/explanation.ts';
import type { LogReader } from '../log/log.ts';
import type { LeaseGranted, LogRecord, TaskCreated } from '../model/records.ts';
import type { QueueOf } from './log-query.ts';

/** A shorter wait is not told. */
const WAIT_TOLD_MS = 1_000;
const RECORDS_A_WAIT = 500;
const RECORDS_A_STORY = 4_000;

type Get = LogReader['get'];

/**
 * @param records the task's own, ascending, its TaskCreated first.
 * @returns by lease, for the waits that are long enough and have few enough records in them.
 */
export function readWaits(
  get: Get,
  queueOf: QueueOf,
  records: readonly LogRecord[],
): Map<number, Between> {
  const [created] = records as readonly [TaskCreated, ...LogRecord[]];
  const waits = new Map<number, Between>();
  let eligible = { seq: created.seq, at: Math.max(created.at, created.notBefore ?? 0) };
  let left = RECORDS_A_STORY;
  for (const record of records) {
    if (record.type === 'LeaseExpired') eligible = { seq: record.seq, at: record.at };
    if (record.type === 'TaskFailed') {
      eligible = { seq: record.seq, at: record.retryAt ?? record.at };
    }
    if (record.type !== 'LeaseGranted' || record.at - eligible.at < WAIT_TOLD_MS) continue;
    const most = Math.min(RECORDS_A_WAIT, left);
    const found = between(get, queueOf, { eligible, grant: record, most, queue: created.queue });
    left -= found.looked;
    if (found.between !== undefined) waits.set(record.seq, found.between);
  }
  return waits;
}

interface Span {
  readonly eligible: { readonly seq: number; readonly at: number };
  readonly grant: LeaseGranted;
  readonly queue: string;
  readonly most: number;
}

/** Backward from the grant to the moment at which the task could have been granted. */
function between(get: Get, queueOf: QueueOf, { eligible, grant, queue, most }: Span) {
  const grants: number[] = [];
  let grantsElsewhere = 0;
  let deaths = 0;
  let freed: FreedLease | undefined;
  let looked = 0;
  for (let seq = grant.seq - 1; seq > eligible.seq; seq -= 1) {
    if (looked === most) return { looked, between: undefined };
    looked += 1;
    const record = get(seq);
    // What was removed may have been a grant: nothing is claimed of such a span.
    if (record === undefined) return { looked, between: undefined };
    if (record.at < eligible.at) break;
    if (record.type === 'LeaseGranted') {
      if (queueOf(record) === queue) grants.push(seq);
      else grantsElsewhere += 1;
    }
    if (record.type === 'TaskDead' && queueOf(record) === queue) deaths += 1;
    freed ??= freedBy(get, record, grant);
  }
  const told: Between = {
    grants: grants.length,
    firstGrant: grants.at(-1),
    lastGrant: grants[0],
    deaths,
    grantsElsewhere,
    freed,
  };
  return { looked, between: told };
}

/** The lease that a record ends, when the worker of the grant held it. */
function freedBy(get: Get, record: LogRecord, { workerId }: LeaseGranted): FreedLease | undefined {
  if (!('leaseId' in record) || !('extensions' in record)) return undefined;
  const held = get(record.leaseId);
  if (held?.type !== 'LeaseGranted' || held.workerId !== workerId) return undefined;
  return { leaseId: record.leaseId, taskId: record.taskId, at: record.at, record: record.seq };
}
