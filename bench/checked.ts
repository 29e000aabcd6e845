// Owns `--check`: a bench whose traffic breaks a rule measures nothing. While it is on, the state
// of a loop is looked at as the simulator looks at it, again and again, and at the end beside a
// replay of its log; and what a server leaves on the disk is verified. Figures taken so are not for
// the table: looking takes longer than what is looked at.

import { execFileSync } from 'node:child_process';
import { stateDigest } from '../src/core/digest.ts';
import { brokenInvariants } from '../src/core/invariants.ts';
import type { Log } from '../src/log/log.ts';
import type { Coordinator } from '../src/loop/coordinator.ts';
import { type ReplayOptions, replay } from '../src/loop/replay.ts';

export const checking = { on: false };

/** Durable groups before the first look; each look doubles it, as a state grows. */
const FIRST_LOOK = 25;

/** Watches one loop. Call `durable` for each group, and `end` when it has stopped. */
export class Watch {
  private readonly loop: Coordinator;
  private groups = 0;
  private next = FIRST_LOOK;

  constructor(loop: Coordinator) {
    this.loop = loop;
  }

  durable(): void {
    this.groups += 1;
    if (!checking.on || this.groups < this.next) return;
    this.next *= 2;
    this.look();
  }

  /** @throws Error naming what is broken. */
  end(log: Log, { digestText }: ReplayOptions): void {
    if (!checking.on) return;
    this.look();
    const again = replay(log, { digestText }).state;
    if (stateDigest(again) === stateDigest(this.loop.view.state)) return;
    throw new Error('the state of the loop is not the one that its log replays to');
  }

  private look(): void {
    const broken = brokenInvariants(this.loop.view.state);
    if (broken.length > 0) throw new Error(`the bench broke a rule: ${broken.join(', ')}`);
  }
}

/** @throws Error when the log that a server has left is not whole. */
export function verifyLeft(main: string, directory: string): void {
  if (!checking.on) return;
  execFileSync(process.execPath, [main, 'verify', '--data-dir', directory], { stdio: 'pipe' });
}
