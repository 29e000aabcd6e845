// Owns the reading of answers: from the body of an answer as sent over the wire to the typed
// outcome. Also owns the one rule by which a duplicate_report is read as the outcome of our own
// earlier report. This file sends nothing.

import { fromWire, fromWireNested, readBytes } from '../protocol/client-wire.ts';
import { parseJson } from './bytes-text.ts';
import { LeaseholdError, RefusedError } from './errors.ts';
import { Lease, readLease } from './lease.ts';
import type { Answer, Call, Wire } from './transport.ts';
import type * as t from './types.ts';

export interface Leased {
  readonly leases: readonly Lease[];
  /** Why there is none; absent when there is one. */
  readonly empty?: t.EmptyLease;
}
export interface TaskFilter {
  readonly state?: t.TaskInfo['state'];
  readonly queue?: string;
  readonly requestId?: string;
  readonly after?: string;
  readonly limit?: number;
}
export interface TaskPage {
  readonly tasks: readonly t.TaskInfo[];
  readonly next: string | null;
}

const REFUSALS = new Set(['REJECTED', 'CANCELLED', 'UNAVAILABLE']);

const isRefusal = (body: Wire): boolean => REFUSALS.has(String(body.outcome));

function refused(body: Wire): t.Refused {
  const { type: _type, title: _title, status: _status, ...rest } = fromWire(body);
  return { record: null, ...rest } as unknown as t.Refused;
}

/** @returns the body. @throws RefusedError when it is a refusal. */
export function plain(op: string, body: Wire): Wire {
  if (isRefusal(body)) throw new RefusedError(op, refused(body));
  return body;
}

export function submitted(body: Wire, requestId: string): t.Submitted {
  return { ...(fromWire(plain('submit', body)) as unknown as t.Submitted), requestId };
}

export function leased(answer: Answer): Leased {
  const body = plain('lease', answer.body);
  if (!Array.isArray(body.leases)) throw new LeaseholdError('PROTOCOL', 'no list of leases');
  const leases = body.leases.map((one: Wire) => new Lease(readLease(one, answer)));
  if (body.empty === undefined) return { leases };
  return { leases, empty: fromWire(body.empty as Wire) as unknown as t.EmptyLease };
}

export function heartbeat({ body, sentAtMs }: Answer): t.HeartbeatOutcome {
  if (isRefusal(body)) return refused(body);
  const ok = fromWire(body) as unknown as t.HeartbeatOk;
  // The lease is counted from when the heartbeat was sent. The coordinator decides later than
  // that, so our end of the lease is never later than the true one.
  return { ...ok, atCap: ok.atCap ?? false, endsAtMs: sentAtMs + ok.leaseMs };
}

/**
 * Reads the answer of a report. A report may reach the coordinator although its answer is lost.
 * The client then sends the report again, and the coordinator rejects the second one as a
 * duplicate_report. So a duplicate_report about the same verb, after a resend, stands for the
 * outcome of the first report. Without a resend, duplicate_report is a misuse by the caller and is
 * returned as it is.
 */
export function report(body: Wire, op: string, resent: boolean): t.ReportOutcome {
  const outcome = refused(body) as t.ReportOutcome;
  if (!resent || outcome.outcome !== 'REJECTED' || outcome.reason !== 'duplicate_report') {
    return outcome;
  }
  const { firstReport, firstOutcome, firstRecord, taskState } = outcome;
  if (firstReport !== op || firstOutcome === undefined) return outcome;
  const first = { taskState, record: firstRecord, outcome: firstOutcome, resent: true };
  return first as unknown as t.ReportOutcome;
}

export function redriven(body: Wire): t.Redriven {
  const answer = fromWire(plain('redrive', body)) as unknown as t.Redriven;
  return { ...answer, outcome: 'COMMITTED', deduplicated: answer.deduplicated ?? false };
}

type Untold = Omit<t.TaskDetails, 'text' | 'json'>;

const taskInfo = (body: Wire): t.TaskInfo => fromWireNested(body, 'lease') as unknown as t.TaskInfo;

export function taskDetails(body: Wire): t.TaskDetails {
  const { payload: _, result: __, ...rest } = taskInfo(plain('task', body)) as Untold;
  const result = readBytes(body, 'result');
  const payload = readBytes(body, 'payload') ?? Buffer.alloc(0);
  const details = result === undefined ? { ...rest, payload } : { ...rest, payload, result };
  // Not enumerable: a task that is copied, compared or printed is its facts.
  return Object.defineProperties(details, {
    text: { value: () => payload.toString('utf8') },
    json: { value: () => parseJson(payload, 'payload') },
  }) as unknown as t.TaskDetails;
}

export function taskPage(body: Wire): TaskPage {
  const page = plain('tasks', body) as unknown as { tasks: Wire[]; next: string | null };
  return { tasks: page.tasks.map(taskInfo), next: page.next ?? null };
}

export function ofBatch(call: Call, answer: Answer, resent: boolean) {
  const { http_status: _, ...body } = answer.body;
  if (call.op === 'heartbeat') return heartbeat({ ...answer, body });
  if (call.op === 'complete' || call.op === 'fail' || call.op === 'kill') {
    return report(body, call.op, resent);
  }
  if (isRefusal(body)) return refused(body);
  if (call.op === 'lease') return leased({ ...answer, body });
  if (call.op === 'redrive') return redriven(body);
  return submitted(body, String(call.params.request_id));
}
