// Owns the one decision whether and when a request is sent again. The function is pure: the caller
// passes the random number in. Only trouble on the way is decided here; an outcome is never
// retried.

import { operationsThat } from '../model/operations.ts';

export interface RetryKnobs {
  /** How often a request is sent again at most. */
  readonly retries: number;
  /** Pause before the first retry; it doubles from one to the next … */
  readonly backoffMs: number;
  /** … up to this. */
  readonly backoffMaxMs: number;
}

export type Trouble =
  /** No answer; `written`: the request may have reached the coordinator. */
  | { readonly kind: 'unanswered'; readonly written: boolean }
  /** Answered UNAVAILABLE. */
  | {
      readonly kind: 'unavailable';
      readonly reason: string;
      readonly retryAfterMs?: number | undefined;
    };

/**
 * @returns whether the request may have taken effect. UNAVAILABLE says no for most reasons; with
 *   `log_unavailable` the records may still turn out to be in the log.
 */
export function mayHaveHappened(trouble: Trouble): boolean {
  return trouble.kind === 'unanswered' ? trouble.written : trouble.reason === 'log_unavailable';
}

const ONCE: ReadonlySet<string> = new Set(operationsThat(({ once }) => once === true));

/**
 * @returns whether a request may be sent again although the coordinator may have received it. The
 *   table of operations says so. A lease request may not: a second one would be granted further
 *   tasks, while a grant whose answer is lost expires by itself.
 */
export const isRepeatable = (op: string): boolean => !ONCE.has(op);

/**
 * @param attempt how often the request was sent so far: 1 after the first time
 * @param dice in [0, 1): spreads the retries of many clients that lost the same server
 * @returns the pause in ms before the request is sent again; undefined: give up
 */
export function nextRetryMs(
  knobs: RetryKnobs,
  repeatable: boolean,
  attempt: number,
  trouble: Trouble,
  dice: number,
): number | undefined {
  if (attempt > knobs.retries) return undefined;
  if (!repeatable && mayHaveHappened(trouble)) return undefined;
  const step = Math.min(knobs.backoffMs * 2 ** (attempt - 1), knobs.backoffMaxMs);
  const pauseMs = step / 2 + dice * (step / 2);
  const askedMs = trouble.kind === 'unavailable' ? (trouble.retryAfterMs ?? 0) : 0;
  // The server asks for a pause in whole seconds, as a hint. The pause that the client takes stays
  // within its own bound all the same.
  return Math.max(pauseMs, Math.min(askedMs, knobs.backoffMaxMs));
}
