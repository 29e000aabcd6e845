// Owns a shorter way of reading the four most frequent requests of the socket: a line that looks
// exactly as JSON.stringify writes it for this project's own client is recognised by one pattern.
// The pattern admits nothing that json.ts, jsonrpc.ts or the method's form would refuse, so none of
// them needs to look at such a line. Every other line is theirs, also one with a field that these
// methods get later. What a field means, and how long its text may be, is decided for both ways by
// the same readers (fields-to-request.ts).

import { ID_MAX_BYTES, QUEUE_PATTERN } from '../model/limits.ts';

/** A call of jsonrpc.ts. */
interface ExactCall {
  readonly kind: 'call';
  readonly id: string;
  readonly method: string;
  readonly params: object;
  readonly hasForm: true;
}

/** A longer line costs little by being read the long way. */
const LINE_MAX_BYTES = 4_096;

/** Printable ASCII that stands for itself in a string. */
const LETTER = String.raw`[ !#-\[\]-~]`;
/** The same with those escapes that stand for one letter each. */
const TEXT = String.raw`${LETTER}*(?:\\["\\/bfnrt]${LETTER}*)*`;
const NAME = `${LETTER}{1,${ID_MAX_BYTES}}`;
const QUEUE = QUEUE_PATTERN.slice(1, -1);
/** Fewer digits than the form of an id admits. */
const NUMBER = '[1-9][0-9]{0,14}';
const WAIT_MS = '0|[1-9][0-9]{0,3}|[1-5][0-9]{4}';
const MAX = '[1-9][0-9]{0,2}';

const FORMS = [
  `"submit","params":\\{"payload":"(${TEXT})"(?:,"queue":"(${QUEUE})")?` +
    `(?:,"request_id":"(${NAME})")?`,
  `"lease","params":\\{"worker_id":"(${NAME})"(?:,"wait_ms":(${WAIT_MS}))?` +
    `(?:,"queues":\\["(${QUEUE}(?:","${QUEUE}){0,7})"\\])?(?:,"max":(${MAX}))?`,
  `"(heartbeat|complete)","params":\\{"task_id":"(T${NUMBER})","lease_id":"(L${NUMBER})"`,
];
const LINE = new RegExp(
  `^\\{"jsonrpc":"2\\.0","id":(0|${NUMBER}),"method":(?:${FORMS.join('|')})\\}\\}$`,
);

/** @returns the call whose params have the method's form; undefined: to be read the long way. */
export function readExact(line: Buffer): ExactCall | undefined {
  if (line.length > LINE_MAX_BYTES) return undefined;
  const found = LINE.exec(line.toString('latin1'));
  if (found === null) return undefined;
  // By their places: to take the list apart would make further lists.
  const id = found[1] as string;
  if (found[2] !== undefined) {
    const payload = found[2].includes('\\') ? JSON.parse(`"${found[2]}"`) : found[2];
    return call(id, 'submit', { payload, queue: found[3], request_id: found[4] });
  }
  if (found[5] === undefined) {
    return call(id, found[9] as string, { task_id: found[10], lease_id: found[11] });
  }
  return call(id, 'lease', {
    worker_id: found[5],
    wait_ms: found[6] && Number(found[6]),
    queues: found[7]?.split('","'),
    max: found[8] && Number(found[8]),
  });
}

const call = (id: string, method: string, params: object): ExactCall => ({
  kind: 'call',
  id,
  method,
  params,
  hasForm: true,
});
