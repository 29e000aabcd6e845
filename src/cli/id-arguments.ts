// Owns the ids that are typed by hand. An id of the wrong shape is a usage error, and is reported
// before a server is asked.

import { parseLeaseId, parseTaskId } from '../model/ids.ts';
import { usage } from './command.ts';

export function taskIdOf(given: string): string {
  if (parseTaskId(given) !== undefined) return given;
  const number = parseLeaseId(given);
  if (number !== undefined) {
    const look = `leasehold log --from ${number} --limit 1`;
    throw usage(`${given} is a lease, and a task is asked for; \`${look}\` names its task`);
  }
  throw usage(`${JSON.stringify(given)} is no task id${meant(given, 'T', 'as submit printed it')}`);
}

export function leaseIdOf(given: string): string {
  if (parseLeaseId(given) !== undefined) return given;
  if (parseTaskId(given) !== undefined) {
    const look = `leasehold task ${given}`;
    throw usage(`${given} is a task, and a lease is asked for; \`${look}\` names its lease`);
  }
  throw usage(`${JSON.stringify(given)} is no lease id${meant(given, 'L', 'as lease printed it')}`);
}

/** What is right: with the number that was given, where there is one. */
function meant(given: string, letter: string, source: string): string {
  const [, number] = /^[tl]?([1-9]\d{0,15})$/i.exec(given) ?? [];
  const kind = given.charAt(0).toUpperCase();
  const isOther = /[TL]/.test(kind) && kind !== letter;
  if (number === undefined || isOther) return `: ${letter} and a number, ${source}`;
  return `; did you mean ${letter}${number}?`;
}
