// Owns the order and the ends of a writer, the same for every store: one commit at a time, nothing
// after a failure until the log was opened again, nothing at all after a refusal. It writes nothing.

import { invariant } from '../core/assert.ts';
import type { LogRecord } from '../core/records.ts';
import type { AppendResult } from './log.ts';

type Commit = () => Promise<AppendResult>;

export class AppendLine {
  private end: 'fenced' | 'failed' | undefined;
  private last: Promise<AppendResult> | undefined;

  get fenced(): boolean {
    return this.end === 'fenced';
  }

  /** Runs the commit after those before it; at once, in this turn, when there is none. */
  run(commit: Commit): Promise<AppendResult> {
    const before = this.last;
    const next = (): Promise<AppendResult> => this.begin(commit);
    const running = before === undefined ? next() : before.then(next, next);
    this.last = running;
    const done = (): void => {
      if (this.last === running) this.last = undefined;
    };
    running.then(done, done);
    return running;
  }

  /** Resolves when nothing is under way any more. */
  async idle(): Promise<void> {
    while (this.last !== undefined) await this.last.catch(() => {});
  }

  /** After 'failed': what comes from now on is tried again. A fenced writer stays fenced. */
  reopened(): void {
    if (this.end === 'failed') this.end = undefined;
  }

  private begin(commit: Commit): Promise<AppendResult> {
    if (this.end !== undefined) return Promise.resolve(this.end);
    return commit().then(
      (result) => {
        if (result !== 'durable') this.end = result;
        return result;
      },
      (error: unknown) => {
        this.end = 'failed';
        throw error;
      },
    );
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
