// Owns how an answer lies in the mailbox: its HTTP status, the seconds after which to try again,
// and its JSON text. The coordinator's thread makes the text, so that the ingresses only pass it
// on.

import { REASONS } from '../model/refusal.ts';
import type { Response } from '../model/response.ts';
import { format } from './format.ts';

/** What an ingress gets. `body` is one JSON object, UTF-8; a view that is to be used at once. */
export interface Answer {
  readonly status: number;
  /** 0: do not say when to try again. */
  readonly retryAfterSeconds: number;
  readonly body: Buffer;
  /** The URL of the node to ask instead, at once. */
  readonly leader?: string | undefined;
}

const HEADER_BYTES = 4;
const SECONDS_MAX = 0xffff;

/** Answers up to a third of this are written where the last one was. */
const SCRATCH_BYTES = 65_536;
const scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);

/**
 * @returns the mailbox message of an answer. It is valid only until the next call, because the
 *   buffer is used again; the mailbox copies the message at once.
 */
export function encodeAnswer(response: Response): Buffer {
  const text = format(response);
  // A code unit is at most three bytes, so that what fits need not be measured before.
  const fits = text.length * 3 <= SCRATCH_BYTES - HEADER_BYTES;
  const message = fits ? scratch : Buffer.allocUnsafe(HEADER_BYTES + Buffer.byteLength(text));
  message.writeUInt16LE(httpStatus(response), 0);
  message.writeUInt16LE(retryAfterSeconds(response), 2);
  return message.subarray(0, HEADER_BYTES + message.write(text, HEADER_BYTES, 'utf8'));
}

/** @returns views into the message: copy what is kept. */
export function decodeAnswer(message: Uint8Array): Answer {
  const bytes = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
  return {
    status: bytes.readUInt16LE(0),
    retryAfterSeconds: bytes.readUInt16LE(2),
    body: bytes.subarray(HEADER_BYTES),
  };
}

/** @returns the same answer as if it had come through the mailbox. */
export function answerOf(response: Response): Answer {
  const answer = decodeAnswer(Uint8Array.from(encodeAnswer(response)));
  const leader = response.kind === 'refusal' ? response.leader : undefined;
  return leader === undefined ? answer : { ...answer, leader, retryAfterSeconds: 0 };
}

function retryAfterSeconds(response: Response): number {
  if (response.kind !== 'refusal' || response.retryAfterMs === undefined) return 0;
  return Math.min(Math.max(Math.ceil(response.retryAfterMs / 1_000), 1), SECONDS_MAX);
}

/** @returns the status of HTTP: 201 only where this very request made a task. */
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
