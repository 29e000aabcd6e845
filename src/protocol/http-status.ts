// Owns which HTTP status an answer has. The socket and a batch carry the same number as a field.

import type { Refusal } from '../model/refusal.ts';
import type { Response } from '../model/response.ts';

export type RefusalReason = Refusal['reason'];

const REFUSAL_STATUS: Readonly<Record<RefusalReason, number>> = {
  malformed: 400,
  unauthorized: 401,
  forbidden: 403,
  unknown_task: 404,
  unknown_lease: 404,
  unknown_route: 404,
  method_not_allowed: 405,
  duplicate_report: 409,
  task_terminal: 409,
  not_redrivable: 409,
  lease_expired: 409,
  lease_superseded: 409,
  already_reported: 409,
  task_dead: 409,
  too_large: 413,
  request_id_conflict: 422,
  mailbox_full: 503,
  recovering: 503,
  log_unavailable: 503,
  shutting_down: 503,
};

/** @returns 201 only where this very request made a task. */
export function httpStatus(response: Response): number {
  switch (response.kind) {
    case 'refusal':
      return REFUSAL_STATUS[response.reason];
    case 'submitted':
    case 'redriven':
      return response.deduplicated ? 200 : 201;
    default:
      return 200;
  }
}
