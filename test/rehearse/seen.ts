// Owns the smallest traffic that a judgement needs: worker 1 with lease L3 of task T2, and what
// else a test says was seen.

import type { ToldAttempt } from '../../src/rehearse/coordinator-requests.ts';
import { type Judgement, judge } from '../../src/rehearse/judge.ts';
import type { Evidence } from '../../src/rehearse/leases-in-hand.ts';
import type { AbandonedEffect, Effect, Exchange, WorkerEvent } from '../../src/rehearse/traffic.ts';

const LEASE_MS = 1_000;

export interface Seen {
  readonly exchanges?: readonly Partial<Exchange>[];
  readonly effects?: readonly Partial<Effect>[];
  readonly abandoned?: readonly AbandonedEffect[];
  readonly events?: readonly Omit<WorkerEvent, 'worker'>[];
  readonly left?: readonly string[];
  readonly endedAt?: number;
  /** How lease L3 ended, as explain tells it. */
  readonly ended?: ToldAttempt['ended'];
  /** A further attempt, as explain tells it. */
  readonly also?: ToldAttempt;
  /** Tasks that have an effect when nothing goes wrong. */
  readonly owed?: readonly string[];
  /** What a command of the user's counts. */
  readonly counted?: ReadonlyMap<string, number>;
}

/** Worker 1 was given lease L3 of task T2 at 0 ms. */
export const grant: Partial<Exchange> = {
  op: 'lease',
  at: 0,
  leaseId: undefined,
  said: 'lease',
  answered: { at: 0, outcome: 'LEASES', reason: undefined },
  granted: [{ taskId: 'T2', leaseId: 'L3', attempt: 1, fencingToken: 3 }],
};

export const heartbeat = (at: number, outcome = 'OK'): Partial<Exchange> => ({
  op: 'heartbeat',
  at,
  said: 'heartbeat',
  answered: { at, outcome, reason: undefined },
});

export const complete = (
  at: number,
  outcome = 'COMMITTED',
  said = 'complete',
): Partial<Exchange> => ({
  op: 'complete',
  at,
  said,
  answered: { at, outcome, reason: undefined },
});

export const effect = (at: number, fencingToken = 3): Partial<Effect> => ({
  askedAt: at,
  at,
  fencingToken,
});

export function judged({
  exchanges = [],
  effects = [],
  abandoned = [],
  events = [],
  left = [],
  endedAt,
  ended,
  also,
  owed = [],
  counted = new Map(),
}: Seen): Judgement {
  const all = [grant, ...exchanges].map(
    (one, index): Exchange => ({
      number: index + 1,
      worker: 1,
      op: undefined,
      at: 0,
      taskId: 'T2',
      leaseId: 'L3',
      queues: [],
      said: '',
      requestFate: 'pass',
      answerFate: 'pass',
      answered: undefined,
      deliveredAt: one.at ?? 0,
      granted: [],
      ...one,
    }),
  );
  const evidence: Evidence = {
    traffic: {
      exchanges: all,
      effects: effects.map((one) => ({ taskId: 'T2', ...one, accepted: true }) as Effect),
      abandoned: [...abandoned],
      events: events.map((event) => ({ worker: 1, ...event })),
    },
    records: [],
    stories:
      ended === undefined
        ? []
        : [
            {
              task_id: 'T2',
              attempts: [
                { lease_id: 'L3', ended, end_record: 4 },
                ...(also === undefined ? [] : [also]),
              ],
              statements: [],
            },
          ],
    leaseMs: LEASE_MS,
    left,
    endedAt: endedAt ?? Math.max(0, ...all.map(({ at }) => at)) + 100,
    counted,
    owed: new Set(owed),
  };
  return judge(evidence);
}

/** A second attempt, in the hands of worker 2. */
export const granted2 = (at: number): Partial<Exchange> => ({
  ...grant,
  at,
  worker: 2,
  granted: [{ taskId: 'T2', leaseId: 'L5', attempt: 2, fencingToken: 5 }],
});
