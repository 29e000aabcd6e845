// Owns when history is forgotten: one HistoryForgotten at a time, with pauses between them, and
// none while removal is still at work on an earlier one, nor in the hour after a start whose clock
// may have been wrong. Which tasks one forgets is decided in core/forgetting.ts.

import { forgetPauseMs, forgotten } from '../core/forgetting.ts';
import { NO_SUBJECT } from '../core/subject.ts';
import { CAUTION_AFTER_JUMP_MS } from '../model/limits.ts';
import type { HistoryForgotten } from '../model/records.ts';
import type { Turn } from './turn.ts';

export class Retention {
  private readonly turn: Turn;
  private readonly mayForget: () => boolean;
  private nextAt = Number.NEGATIVE_INFINITY;

  /** @param mayForget false while forgotten history is still being removed. */
  constructor(turn: Turn, mayForget: () => boolean) {
    this.turn = turn;
    this.mayForget = mayForget;
  }

  tick(now: number): void {
    const { knobs, state } = this.turn.context;
    const isCautious = now < state.jumpedAt + CAUTION_AFTER_JUMP_MS;
    if (now < this.nextAt || isCautious || !this.mayForget()) return;
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
