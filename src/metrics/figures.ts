// Owns what one thread measures and others gather: how long its requests took, and how late its
// event loop runs. Figures cross threads as plain data.

import { Histogram, type HistogramData, SECONDS } from '../histogram.ts';
import type { Answer } from '../protocol/answer-frame.ts';
import type { Op } from '../protocol/request.ts';

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
  readonly #byKey = new Map<string, { op: Op; outcome: Outcome; seconds: Histogram }>();

  /** @returns the same callback, watched: the time until its call is the request's. */
  timed(op: Op, onAnswer: (answer: Answer) => void): (answer: Answer) => void {
    const began = performance.now();
    return (answer) => {
      this.observe(op, answer, performance.now() - began);
      onAnswer(answer);
    };
  }

  observe(op: Op, answer: Answer, ms: number): void {
    const outcome = outcomeOf(op, answer);
    const key = `${op} ${outcome}`;
    let entry = this.#byKey.get(key);
    if (entry === undefined) {
      entry = { op, outcome, seconds: new Histogram(SECONDS) };
      this.#byKey.set(key, entry);
    }
    entry.seconds.observe(ms / 1_000);
  }

  figures(): RequestFigure[] {
    return [...this.#byKey.values()].map(({ op, outcome, seconds }) => ({
      op,
      outcome,
      seconds: seconds.data(),
    }));
  }
}

const CANCELLED = Buffer.from('"outcome":"CANCELLED"');

/** The status says it all but for 409, which two outcomes share; such answers are short. */
export function outcomeOf(op: Op, { status, body }: Answer): Outcome {
  if (status < 300) {
    return op === 'complete' || op === 'fail' || op === 'kill' ? 'COMMITTED' : 'OK';
  }
  if (status === 503) return 'UNAVAILABLE';
  return status === 409 && body.includes(CANCELLED) ? 'CANCELLED' : 'REJECTED';
}
