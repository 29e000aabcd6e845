// Owns how many bytes the answers of one batch may come to, on either port: all are held until the
// last one is there. How large an answer is, nobody knows before its request is decided, and what
// was leased then cannot be taken back. So a request is asked only when there is room for the most
// that its answer may come to; until then it waits for answers that are on their way, and those
// behind it wait with it. Where these can make no room any more, it is refused.

import {
  ID_MAX_BYTES,
  METADATA_MAX_BYTES,
  type ParseLimits,
  REASON_MAX_BYTES,
} from '../../src/model/limits.ts';
import { PAGE_LETTERS } from '../../src/reader/log-pages.ts';

export const ANSWERS_MAX_BYTES = 256 * 1024 * 1024;
/** Base64 and escapes grow a text at most sixfold; around the short keys of metadata are quotes. */
const GROWTH = 6;
const METADATA_GROWTH = 9;
/** Whatever of a task or its lease is no payload: metadata, a reason, names, and the rest. */
const TASK_BYTES =
  METADATA_GROWTH * METADATA_MAX_BYTES + GROWTH * (REASON_MAX_BYTES + 2 * ID_MAX_BYTES) + 2_048;
/** What is shown of a task has two reasons: of its last failure, and why it is DEAD. */
const SHOWN_BYTES = TASK_BYTES + GROWTH * REASON_MAX_BYTES;
/** A letter of a page is no control character, and takes up to three bytes. */
const PAGE_BYTES = 3 * PAGE_LETTERS;

export interface AnswerLimits extends ParseLimits {
  /** The payloads in one lease answer, but the last one. */
  readonly batchMaxBytes: number;
}

/** @param max the most tasks that a lease request may be given */
export function mostBytesOfLeases(max: number, limits: AnswerLimits): number {
  const { payloadMaxBytes, batchMaxBytes } = limits;
  const payloads = Math.min(max * payloadMaxBytes, batchMaxBytes + payloadMaxBytes);
  return GROWTH * payloads + TASK_BYTES * max;
}

/** @returns what the answer that shows one task with its payload and its result may come to. */
export const mostBytesOfTask = ({ payloadMaxBytes }: ParseLimits): number =>
  2 * GROWTH * payloadMaxBytes + SHOWN_BYTES;

/** @param limit the most tasks in the list */
export const mostBytesOfTasks = (limit: number): number => SHOWN_BYTES * (limit + 1);

/** Of the log: a record that is larger than a page is a page of its own. */
export const mostBytesOfPage = ({ payloadMaxBytes }: ParseLimits): number =>
  PAGE_BYTES + GROWTH * payloadMaxBytes + TASK_BYTES;

export interface Step {
  /** What its answer may come to; 0: too little to count. */
  readonly mostBytes: number;
  /** `answered` is called once for each step that was asked. */
  ask(): void;
  refuse(): void;
}

export class BatchBytes {
  readonly #maxBytes: number;
  readonly #waiting: Step[] = [];
  #next = 0;
  /** Of answers that are there. */
  #held = 0;
  /** Of answers that are on their way, at most. */
  #coming = 0;
  #isGoing = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The requests of a batch, in their order. */
  enter(step: Step): void {
    this.#waiting.push(step);
    this.#goOn();
  }

  answered({ mostBytes }: Pick<Step, 'mostBytes'>, bytes: number): void {
    this.#coming -= mostBytes;
    this.#held += bytes;
    this.#goOn();
  }

  #goOn(): void {
    // What is asked may be answered at once.
    if (this.#isGoing) return;
    this.#isGoing = true;
    for (let step = this.#waiting[this.#next]; step; step = this.#waiting[this.#next]) {
      const { mostBytes } = step;
      if (mostBytes > 0) {
        // One that may come to more than half of all is asked alone, and may go beyond the bound.
        if (this.#held + Math.min(mostBytes, this.#maxBytes / 2) > this.#maxBytes) {
          this.#next += 1;
          step.refuse();
          continue;
        }
        const isTooMuch = this.#held + this.#coming + mostBytes > this.#maxBytes;
        if (isTooMuch && this.#coming > 0) break;
      }
      this.#next += 1;
      this.#coming += mostBytes;
      step.ask();
    }
    this.#isGoing = false;
  }
}
