// Owns the ids that are typed by hand. An id of the wrong shape is a usage error, and is reported
// before a server is asked.

import { parseLeaseId, parseTaskId } from '../model/ids.ts';
import { usage } from './command.ts';

export function taskIdOf(given: string): string {
  if (parseTaskId(given) !== undefined) return given;
  throw usage(`${JSON.stringify(given)} is no task id: T and a number, as submit printed it`);
}

export function leaseIdOf(given: string): string {
  if (parseLeaseId(given) !== undefined) return given;
  throw usage(`${JSON.stringify(given)} is no lease id: L and a number, as lease printed it`);
}
