// Owns the reading of single fields, by their kinds: the statements from which the reader of each
// operation is compiled, and the helpers that they use. An id too large for an exact number is
// refused here.

import { parseLeaseId, parseTaskId } from '../model/ids.ts';
import { badMetadata, badText, refuse } from './check-fields.ts';
import type { Member } from './members.ts';
import { readBytes } from './payload-bytes.ts';

/** What the statements of the readers use. */
export const READING = {
  badText,
  badMetadata,
  readBytes,
  once: (list: readonly string[]) => (list.length === 1 ? list : [...new Set(list)]),
  task: (text: string) =>
    parseTaskId(text) ?? refuse('task_id', 'task_id must be a task id, as submit answered it.'),
  lease: (text: string) =>
    parseLeaseId(text) ?? refuse('lease_id', 'lease_id must be a lease id, as lease answered it.'),
  place: (after: string | number) =>
    (typeof after === 'number' ? after : parseTaskId(after)) ??
    refuse('after', 'after must be the `next` of an answer.'),
};

/**
 * @returns statements that read a member of a request from `given` into a constant with the name
 *   of the member, or return the refusal. The form of `given` is checked already.
 */
export function readerOf({ name, wire, group, field }: Member): string {
  const { kind, presence, maxBytes, fallback } = field;
  const source = group === undefined ? `given.${wire}` : `given.${group}?.${wire}`;
  const given = fallback === undefined ? source : `(${source} ?? ${JSON.stringify(fallback)})`;
  const checked = (check: string): string =>
    `const ${name} = ${given};` +
    `if (${name} !== undefined) { const bad = ${check}; if (bad !== undefined) return bad; }`;
  if (presence === 'made') return `const ${name} = undefined;`;
  switch (kind) {
    case 'text':
      return checked(`badText('${wire}', ${name}, ${maxBytes})`);
    case 'metadata':
      return checked(`badMetadata(${name})`);
    case 'task':
    case 'lease':
    case 'place':
      return `const ${name} = ${kind}(${given}); if (typeof ${name} === 'object') return ${name};`;
    case 'flag':
      return `const ${name} = ${source} !== undefined;`;
    case 'names':
      return `const ${name} = once(${given});`;
    case 'bytes': {
      const texts = `given.${wire}, given.${wire}_base64, limits.payloadMaxBytes`;
      const read = `readBytes('${wire}', ${texts}, ${presence === 'required'})`;
      const isRefusal = `${name} !== undefined && !(${name} instanceof Uint8Array)`;
      return `const ${name} = ${read}; if (${isRefusal}) return ${name};`;
    }
    default:
      return `const ${name} = ${given};`;
  }
}
