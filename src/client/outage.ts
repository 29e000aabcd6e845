// Owns what may be told of a server that does not answer: that it begins, and that it is over, and
// nothing meanwhile, which may be a night.

import type { LeaseholdError } from './errors.ts';
import type { ProtocolEvent } from './types.ts';

export class Outage {
  #isTold = false;

  /** @returns what an error of the worker is: the first sign, a further one, or something else. */
  take({ code }: LeaseholdError): 'begins' | 'lasts' | 'other' {
    // REFUSED is an answer that nothing can be decided now: any other refusal ends the worker.
    if (code !== 'UNREACHABLE' && code !== 'REFUSED') return 'other';
    const isNew = !this.#isTold;
    this.#isTold = true;
    return isNew ? 'begins' : 'lasts';
  }

  /** @returns whether this is the answer with which it is over. */
  isOver(event: ProtocolEvent): boolean {
    if (!this.#isTold || event.direction !== 'answer' || !decides(event.body)) return false;
    this.#isTold = false;
    return true;
  }
}

/** @param why what is wrong; it may be a sentence of the server */
export const tryingAgain = (why: string): string => `${why.replace(/\.$/, '')}; trying again`;

function decides(body: unknown): boolean {
  const { error, outcome } = body as { readonly error?: unknown; readonly outcome?: unknown };
  return error === undefined && outcome !== 'UNAVAILABLE';
}
