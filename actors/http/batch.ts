// Owns the batch: many requests in one body, each parsed, decided and recorded by itself, offered
// to the mailbox in one run and answered in their order. It is no transaction.

import type { ParseLimits } from '../../src/model/limits.ts';
import { operationsThat } from '../../src/model/operations.ts';
import { isRefusal, type Rejected, rejected } from '../../src/model/refusal.ts';
import type { Op, Request } from '../../src/model/request.ts';
import { type Answer, answerOf } from '../../src/protocol/answer-frame.ts';
import { parseRequest } from '../../src/protocol/fields-to-request.ts';
import { BatchRoom, weightOfLeases } from '../ingress/batch-room.ts';
import { Asker, type Gate } from '../ingress/gate.ts';

const OPS: ReadonlySet<unknown> = new Set(operationsThat(({ batch }) => batch === true));

/** @param onDone called once, with the body `{"answers":[…]}`. */
export function askBatch(
  gate: Gate,
  requests: readonly unknown[],
  limits: ParseLimits,
  onDone: (body: Buffer) => void,
): void {
  const answers = new Answers(requests.length, onDone);
  const room = new BatchRoom();
  if (requests.length === 0) onDone(joined([]));
  for (let index = 0; index < requests.length; index += 1) {
    const request = roomy(parseOne(requests[index], limits), room);
    if (isRefusal(request)) answers.put(index, answerOf(request));
    else gate.ask(request, new OneOf(answers, index));
  }
}

/** The answers of a batch, until the last one is there. */
class Answers {
  readonly #answers: Answer[] = [];
  #open: number;
  readonly #onDone: (body: Buffer) => void;

  constructor(count: number, onDone: (body: Buffer) => void) {
    this.#open = count;
    this.#onDone = onDone;
  }

  put(index: number, answer: Answer): void {
    this.#answers[index] = answer;
    this.#open -= 1;
    if (this.#open === 0) this.#onDone(joined(this.#answers));
  }
}

class OneOf extends Asker {
  readonly #answers: Answers;
  readonly #index: number;

  constructor(answers: Answers, index: number) {
    super();
    this.#answers = answers;
    this.#index = index;
  }

  answered(answer: Answer): void {
    this.#answers.put(this.#index, answer);
  }
}

/** @param given one element of `requests`; nothing about it is known. */
function parseOne(given: unknown, limits: ParseLimits): Request | Rejected {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    return rejected('malformed', 'Each request must be a JSON object with its op.');
  }
  const { op, ...fields } = given as Record<string, unknown>;
  if (!OPS.has(op)) {
    const detail = `op must be one of ${[...OPS].join(', ')}.`;
    return rejected('malformed', detail, { field: 'op' });
  }
  const request = parseRequest(op as Op, fields, limits);
  if (!isRefusal(request) && request.op === 'lease' && request.waitMs > 0) {
    const detail = 'wait_ms must be 0 in a batch: one request must not hold up the others.';
    return rejected('malformed', detail, { field: 'wait_ms' });
  }
  return request;
}

/** Refuses leases for whose answer the batch has no room; all other answers are small. */
function roomy(request: Request | Rejected, room: BatchRoom): Request | Rejected {
  if (isRefusal(request) || request.op !== 'lease') return request;
  if (room.takes(1 + weightOfLeases(request.max))) return request;
  const detail = 'The answers to this batch would be too large: lease fewer tasks at a time.';
  return rejected('malformed', detail, { field: 'max' });
}

const OPEN = Buffer.from('{"answers":[');
const CLOSE = Buffer.from(']}');

/** Every body is `{…}`: its status is put in as the first member, the rest is copied as it is. */
function joined(answers: readonly Answer[]): Buffer {
  const parts: Buffer[] = [OPEN];
  for (const [index, { status, body }] of answers.entries()) {
    parts.push(Buffer.from(`${index === 0 ? '' : ','}{"http_status":${status},`));
    parts.push(body.subarray(1));
  }
  parts.push(CLOSE);
  return Buffer.concat(parts);
}
