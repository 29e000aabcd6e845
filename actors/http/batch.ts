// Owns the batch: many requests in one body, each parsed, decided and recorded by itself, offered
// to the mailbox in one run, as far as there is room for the answers, and answered in their order.
// It is no transaction.

import { operationsThat } from '../../src/model/operations.ts';
import { isRefusal, type Rejected, rejected } from '../../src/model/refusal.ts';
import type { Op, Request } from '../../src/model/request.ts';
import { type Answer, answerOf } from '../../src/protocol/answer-frame.ts';
import { parseRequest } from '../../src/protocol/fields-to-request.ts';
import {
  ANSWERS_MAX_BYTES,
  type AnswerLimits,
  BatchBytes,
  mostBytesOfLeases,
  type Step,
} from '../ingress/batch-bytes.ts';
import { BatchWeight, weightOfLeases } from '../ingress/batch-weight.ts';
import { Asker, type Gate } from '../ingress/gate.ts';

const TOO_LARGE = rejected(
  'malformed',
  'The answers to this batch would be too large: lease fewer tasks at a time.',
  { field: 'max' },
);
const OPS: ReadonlySet<unknown> = new Set(operationsThat(({ batch }) => batch === true));

/** @param onDone called once, with the body `{"answers":[…]}`. */
export function askBatch(
  gate: Gate,
  requests: readonly unknown[],
  limits: AnswerLimits,
  onDone: (body: Buffer) => void,
  batchBytes = new BatchBytes(ANSWERS_MAX_BYTES),
): void {
  const answers = new Answers(requests.length, onDone);
  const batchWeight = new BatchWeight();
  if (requests.length === 0) onDone(joined([]));
  for (let index = 0; index < requests.length; index += 1) {
    const request = roomy(parseOne(requests[index], limits), batchWeight);
    if (isRefusal(request)) answers.put(index, answerOf(request));
    else batchBytes.enter(new OneOf({ gate, request, limits, answers, index, batchBytes }));
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

interface Parts {
  readonly gate: Gate;
  readonly request: Request;
  readonly limits: AnswerLimits;
  readonly answers: Answers;
  readonly index: number;
  readonly batchBytes: BatchBytes;
}

class OneOf extends Asker implements Step {
  readonly mostBytes: number;
  readonly #parts: Parts;

  constructor(parts: Parts) {
    super();
    const { request, limits } = parts;
    this.#parts = parts;
    this.mostBytes = request.op === 'lease' ? mostBytesOfLeases(request.max, limits) : 0;
  }

  ask(): void {
    const { gate, request } = this.#parts;
    gate.ask(request, this);
  }

  refuse(): void {
    const { answers, index } = this.#parts;
    answers.put(index, answerOf(TOO_LARGE));
  }

  answered(answer: Answer): void {
    const { answers, index, batchBytes } = this.#parts;
    answers.put(index, answer);
    batchBytes.answered(this, answer.bodyBytes);
  }
}

/** @param given one element of `requests`; nothing about it is known. */
function parseOne(given: unknown, limits: AnswerLimits): Request | Rejected {
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
function roomy(request: Request | Rejected, batchWeight: BatchWeight): Request | Rejected {
  if (isRefusal(request) || request.op !== 'lease') return request;
  return batchWeight.takes(1 + weightOfLeases(request.max)) ? request : TOO_LARGE;
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
