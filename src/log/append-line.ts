// Owns the order and the ends of a writer, the same for every store: one commit at a time, none
// after a failure until the log was opened again, none at all after a refusal. It writes nothing.

import { invariant } from '../model/assert.ts';
import type { LogRecord } from '../model/records.ts';
import type { AppendResult } from './log.ts';

type Commit = () => Promise<AppendResult>;

export class AppendLine {
  private end: 'fenced' | 'failed' | undefined;
  private last: Promise<unknown> = Promise.resolve();
  /** Commits under way or waiting in the line. */
  private underWay = 0;

  get fenced(): boolean {
    return this.end === 'fenced';
  }

  /** Runs the commit after those before it; at once, in this turn, when there is none. */
  run(commit: Commit): Promise<AppendResult> {
    this.underWay += 1;
    const running = this.underWay === 1 ? this.begin(commit) : this.after(this.last, commit);
    this.last = running.catch(() => {});
    return running;
  }

  /** In the line like a commit, but not to know the answer ends nothing: a refusal alone does. */
  confirm(ask: () => Promise<AppendResult>): Promise<AppendResult> {
    const asking = async (): Promise<AppendResult> => {
      try {
        if (this.end !== undefined) return this.end;
        const result = await ask().catch(() => 'failed' as const);
        if (result === 'fenced') this.end = result;
        return result;
      } finally {
        this.underWay -= 1;
      }
    };
    this.underWay += 1;
    const running = this.underWay === 1 ? asking() : this.last.then(asking);
    this.last = running;
    return running;
  }

  /** Resolves when nothing is under way any more. */
  async idle(): Promise<void> {
    while (this.underWay > 0) await this.last;
  }

  /** After 'failed': what comes from now on is tried again. A fenced writer stays fenced. */
  reopened(): void {
    if (this.end === 'failed') this.end = undefined;
  }

  private async after(before: Promise<unknown>, commit: Commit): Promise<AppendResult> {
    await before;
    return this.begin(commit);
  }

  private async begin(commit: Commit): Promise<AppendResult> {
    try {
      if (this.end !== undefined) return this.end;
      const result = await commit();
      if (result !== 'durable') this.end = result;
      return result;
    } catch (error) {
      this.end = 'failed';
      throw error;
    } finally {
      this.underWay -= 1;
    }
  }
}

/**
 * A group is numbered without a gap; anything else is a bug of the caller.
 * @returns the first number.
 */
export function assertContiguous(records: readonly LogRecord[]): number {
  const first = records[0]?.seq ?? 0;
  invariant(first >= 1, 'a group has at least one record, numbered from 1');
  for (let i = 1; i < records.length; i++) {
    invariant(records[i]?.seq === first + i, `record ${first + i} of a group is missing`);
  }
  return first;
}
