// Owns when a worker asks for leases. A worker asks only for its free slots, pauses longer after
// each failure in a row, and stops asking when the coordinator refuses the token or a parameter.
// This file works on no task.

import type { Client } from './client.ts';
import { LeaseholdError, RefusedError } from './errors.ts';
import type { Lease } from './lease.ts';
import { pause } from './local-clock.ts';
import { nextRetryMs, type RetryKnobs } from './resend.ts';
import type { LeaseOptions } from './types.ts';

export interface AskingParts {
  /** A client without retries: the loop below asks again, and pauses by itself. */
  readonly client: Client;
  readonly request: Omit<LeaseOptions, 'max'>;
  /** Tasks in hand at a time. */
  readonly slots: number;
  readonly untilEmpty: boolean;
  /** Ends the asking. */
  readonly signal: AbortSignal;
  readonly knobs: RetryKnobs;
  readonly machine: Machine;
  inHand(): number;
  /** Resolves when a task was ended, or the asking is to end. */
  somethingEnded(): Promise<void>;
  take(leases: readonly Lease[]): void;
  tell(error: LeaseholdError): void;
}

/** Leases of one request; the coordinator takes at least so many. */
const LEASES_MAX = 500;
/**
 * While this machine can start no handler, the pauses between lease requests are longer by these
 * factors (by default from one second to five minutes). The worker releases each task that it
 * leased in vain. A release is not charged to the task, but only up to a hundred times in a row.
 */
const MACHINE_SLOWER = { first: 10, most: 60 };
/** `untilEmpty` ends with the error after so many tries: this machine may never recover. */
const MACHINE_TRIES = 4;

/** Whether tasks can be worked on here at all. */
export class Machine {
  #trouble: LeaseholdError | undefined;
  #times = 0;

  isWrong(error: LeaseholdError): void {
    this.#trouble = error;
  }

  isRight(): void {
    this.#trouble = undefined;
    this.#times = 0;
  }

  /**
   * @returns the trouble that came up since the last call, and how many times in a row there was
   *   trouble; undefined when there is none
   */
  takeTrouble(): { readonly error: LeaseholdError; readonly times: number } | undefined {
    const error = this.#trouble;
    if (error === undefined) return undefined;
    this.#trouble = undefined;
    this.#times += 1;
    return { error, times: this.#times };
  }
}

/** @throws when going on makes no sense: the token or a parameter was refused. */
export async function askForWork(parts: AskingParts): Promise<void> {
  const { client, request, slots, untilEmpty, signal } = parts;
  let failures = 0;
  while (!signal.aborted) {
    await waitForMachine(parts);
    const free = slots - parts.inHand();
    if (free === 0) {
      await parts.somethingEnded();
      continue;
    }
    try {
      const max = Math.min(free, LEASES_MAX);
      const { leases } = await client.lease({ ...request, max }, { signal });
      failures = 0;
      parts.take(leases);
      if (leases.length > 0 || !untilEmpty) continue;
      if (parts.inHand() === 0) return;
      await parts.somethingEnded();
    } catch (error) {
      if (signal.aborted) return;
      failures += 1;
      if (!isPassing(error)) throw error;
      parts.tell(error as LeaseholdError);
      await pause(pauseMs(parts.knobs, failures), signal);
    }
  }
}

async function waitForMachine(parts: AskingParts): Promise<void> {
  const { machine, untilEmpty, signal, knobs } = parts;
  const trouble = machine.takeTrouble();
  if (trouble === undefined) return;
  if (untilEmpty && trouble.times > MACHINE_TRIES) throw trouble.error;
  const backoffMs = knobs.backoffMs * MACHINE_SLOWER.first;
  const backoffMaxMs = knobs.backoffMaxMs * MACHINE_SLOWER.most;
  await pause(pauseMs({ ...knobs, backoffMs, backoffMaxMs }, trouble.times), signal);
}

/** Transport trouble passes; a refused token or parameter does not. */
function isPassing(error: unknown): boolean {
  if (error instanceof RefusedError) return error.refusal.outcome === 'UNAVAILABLE';
  return error instanceof LeaseholdError && error.code === 'UNREACHABLE';
}

function pauseMs(knobs: RetryKnobs, failures: number): number {
  const endless = { ...knobs, retries: Number.POSITIVE_INFINITY };
  const trouble = { kind: 'unanswered', written: false } as const;
  return nextRetryMs(endless, true, failures, trouble, Math.random()) ?? knobs.backoffMaxMs;
}
