// Owns what the simulated disk does with the next commit: how long it takes, and how it ends.

import type { Random } from './random.ts';
import type { Troubles } from './settings.ts';

export type CommitEnd = 'durable' | 'failed' | 'lost answer';

export class Disk {
  /** Until then it takes nothing. */
  outageUntil = 0;
  private readonly dice: Random;

  constructor(dice: Random) {
    this.dice = dice;
  }

  next(now: number, troubles: Troubles): { readonly delayMs: number; readonly end: CommitEnd } {
    const { dice } = this;
    let delayMs = dice.pick([0, 0, 1, 1, 2, 5]);
    if (dice.chance(troubles.stall)) delayMs = dice.pick([300, 1_000, 5_000]);
    if (dice.chance(troubles.append) || now < this.outageUntil) return { delayMs, end: 'failed' };
    return { delayMs, end: dice.chance(troubles.lostAnswer) ? 'lost answer' : 'durable' };
  }
}
