// Owns the JSON of a refusal: RFC 9457 members, then what a program decides by. It shows what the
// refusal says and nothing of the inside: no stack, no path, no payload.

import type { Refusal } from '../model/refusal.ts';
import { httpStatus, type RefusalReason } from './http-status.ts';

/** A title is the same for every occurrence; `detail` tells about this one. */
const TITLES: Readonly<Record<RefusalReason, string>> = {
  malformed: 'The request is malformed',
  unauthorized: 'The token is missing or wrong',
  forbidden: 'Requests from web pages are refused',
  unknown_task: 'There is no such task',
  unknown_lease: 'This lease was never granted for this task',
  unknown_route: 'There is no such route',
  method_not_allowed: 'The route does not take this method',
  duplicate_report: 'The lease has its outcome already',
  task_terminal: 'The task is over',
  not_redrivable: 'Only FAILED and DEAD tasks are redriven',
  lease_expired: 'The lease expired',
  lease_superseded: 'The lease expired and a later one was granted',
  already_reported: 'The lease ended with its own report',
  task_dead: 'The task was killed',
  too_large: 'The request is too large',
  request_id_conflict: 'The request id names another content',
  mailbox_full: 'The mailbox is full',
  recovering: 'The log is being replayed',
  log_unavailable: 'The log takes no records now',
  shutting_down: 'The coordinator is stopping',
};

/**
 * @param status where HTTP has a closer one for it than the reason has
 * @returns the body of a refusal over HTTP, in a batch and on the socket.
 */
export function formatRefusal(refusal: Refusal, status = httpStatus(refusal)): string {
  const { reason, detail, field, taskState, leaseExpiry } = refusal;
  let text =
    `{"type":"urn:leasehold:${reason}","title":"${TITLES[reason]}",` +
    `"status":${status},"detail":${JSON.stringify(detail ?? `${TITLES[reason]}.`)},` +
    `"outcome":"${refusal.outcome}","reason":"${reason}"`;
  if (field !== undefined) text += `,"field":${JSON.stringify(field)}`;
  if (refusal.firstOutcome !== undefined) text += `,"first_outcome":"${refusal.firstOutcome}"`;
  if (refusal.firstReport !== undefined) text += `,"first_report":"${refusal.firstReport}"`;
  if (refusal.firstRecord !== undefined) text += `,"first_record":${refusal.firstRecord}`;
  if (taskState !== undefined) text += `,"task_state":"${taskState}"`;
  if (leaseExpiry !== undefined) text += `,"lease_expiry":${leaseExpiry}`;
  return `${text},"record":${refusal.record}}`;
}
