// Owns what one thread measures and another gathers: how long the thread's requests took, and how
// late its event loop runs. The figures cross threads as plain data.

import type { Op } from '../model/request.ts';
import type { Answer } from '../protocol/answer-frame.ts';
import { Histogram, type HistogramData, SECONDS } from './histogram.ts';

export type Outcome = 'OK' | 'COMMITTED' | 'CANCELLED' | 'REJECTED' | 'UNAVAILABLE';

export interface RequestFigure {
  readonly op: Op;
  readonly outcome: Outcome;
  readonly seconds: HistogramData;
}

export interface ThreadFigures {
  readonly actor: string;
  readonly eventLoopLagMs: number;
  readonly requests: readonly RequestFigure[];
}

export class RequestTimes {
  readonly #byOp = new Map<Op, Map<Outcome, Histogram>>();

  observe(op: Op, answer: Answer, ms: number): void {
    const outcome = outcomeOf(op, answer);
    let byOutcome = this.#byOp.get(op);
    if (byOutcome === undefined) this.#byOp.set(op, (byOutcome = new Map()));
    let seconds = byOutcome.get(outcome);
    if (seconds === undefined) byOutcome.set(outcome, (seconds = new Histogram(SECONDS)));
    seconds.observe(ms / 1_000);
  }

  figures(): RequestFigure[] {
    return [...this.#byOp].flatMap(([op, byOutcome]) =>
      [...byOutcome].map(([outcome, seconds]) => ({ op, outcome, seconds: seconds.data() })),
    );
  }
}

const CANCELLED = '"outcome":"CANCELLED"';

/** The status says it all but for 409, which two outcomes share; such answers are short. */
export function outcomeOf(op: Op, answer: Answer): Outcome {
  const { status } = answer;
  if (status < 300) {
    return op === 'complete' || op === 'fail' || op === 'kill' ? 'COMMITTED' : 'OK';
  }
  if (status === 503) return 'UNAVAILABLE';
  return status === 409 && answer.text.includes(CANCELLED) ? 'CANCELLED' : 'REJECTED';
}
