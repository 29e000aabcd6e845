// Owns the choice of the record: one for each request that changes something, or the answer to a
// request that changes nothing. It only reads: a chosen record has not happened until it is
// applied.

import { invariant } from '../model/assert.ts';
import { COORDINATOR_OPERATIONS } from '../model/coordinator-operations.ts';
import type { LogRecord } from '../model/records.ts';
import type { DecidedBy, HeartbeatRequest, ReportRequest, Request } from '../model/request.ts';
import type { Response } from '../model/response.ts';
import type { Context } from './context.ts';
import { extended } from './lease-manager.ts';
import { heartbeatUnchanged, redrivenBefore, submittedBefore } from './respond.ts';
import type { Subject } from './subject.ts';
import { cancelled, created, dead, redriven, reported } from './task-manager.ts';
import { NONE } from './task-table.ts';

/** Exactly one of the two. */
export type Choice =
  | { readonly append: LogRecord; readonly answer?: undefined }
  | { readonly append?: undefined; readonly answer: Response };

/** Requests that one record decides. Leases are several grants: lease-manager's nextGrant. */
export type Changing = DecidedBy<'record'>;

export const isChanging = (request: Request): request is Changing =>
  COORDINATOR_OPERATIONS[request.op].coordinator === 'record';

/** @param request one that validate() has passed, on this very state, with this subject. */
export function choose(context: Context, request: Changing, subject: Subject, now: number): Choice {
  const { state } = context;
  switch (request.op) {
    case 'submit':
      if (subject.submitted !== NONE) return { answer: submittedBefore(state, subject.submitted) };
      return { append: created(context, request, now) };
    case 'heartbeat':
      return chooseHeartbeat(context, request, subject, now);
    case 'complete':
    case 'fail':
      return { append: chooseReport(context, request, subject, now) };
    case 'kill':
      return { append: dead(context, subject, request.reason, now) };
    default: {
      const before = state.redrivenAs.get(request.taskId);
      if (before !== undefined) return { answer: redrivenBefore(state, request.taskId, before) };
      return { append: redriven(context, request.taskId, now) };
    }
  }
}

function chooseHeartbeat(
  context: Context,
  { leaseId }: HeartbeatRequest,
  { lease }: Subject,
  now: number,
): Choice {
  invariant(lease?.leaseId === leaseId, 'lease', leaseId, 'is not current');
  const record = extended(context, lease, now);
  return record === undefined ? { answer: heartbeatUnchanged(lease, now) } : { append: record };
}

/** The holder's report ends the attempt; a report without authority becomes a TaskCancelled. */
function chooseReport(
  context: Context,
  request: ReportRequest,
  { row, lease }: Subject,
  now: number,
): LogRecord {
  if (lease?.leaseId === request.leaseId) return reported(context, lease, request, now);
  return cancelled(context, row, request, now);
}
