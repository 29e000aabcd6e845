// Owns when history is forgotten: one HistoryForgotten at a time, with pauses between them, and
// none while removal is still at work on an earlier one. Which tasks one forgets is decided in
// core/forgetting.ts.

import { forgetPauseMs, forgotten } from '../core/forgetting.ts';
import { NO_SUBJECT } from '../core/subject.ts';
import type { HistoryForgotten } from '../model/records.ts';
import type { Turn } from './turn.ts';

export class Retention {
  private readonly turn: Turn;
  private readonly mayForget: (now: number) => boolean;
  private nextAt = Number.NEGATIVE_INFINITY;

  /** @param mayForget false while the removal of forgotten history or the clock forbids it. */
  constructor(turn: Turn, mayForget: (now: number) => boolean) {
    this.turn = turn;
    this.mayForget = mayForget;
  }

  tick(now: number): void {
    if (now < this.nextAt || !this.mayForget(now)) return;
    const { knobs } = this.turn.context;
    const record = this.due(now);
    if (record === undefined) return;
    this.turn.decide(record, NO_SUBJECT);
    this.nextAt = now + forgetPauseMs(knobs, this.due(now) !== undefined);
  }

  private due(now: number): HistoryForgotten | undefined {
    const { state, knobs, read } = this.turn.context;
    return forgotten(state, knobs, now, (seq) => read(seq)?.at ?? now);
  }
}
