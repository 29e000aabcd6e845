// Owns which HTTP status an answer has. The socket and a batch carry the same number as a field.

import { REASONS } from '../model/refusal.ts';
import type { Response } from '../model/response.ts';

/** @returns 201 only where this very request made a task. */
export function httpStatus(response: Response): number {
  switch (response.kind) {
    case 'refusal':
      return REASONS[response.reason].status;
    case 'submitted':
    case 'redriven':
      return response.deduplicated ? 200 : 201;
    default:
      return 200;
  }
}
