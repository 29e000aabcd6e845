// Owns the order and the ends of a writer, the same for every store. One commit runs at a time.
// After a failure none runs until the log was opened again, because nobody knows what the device
// holds. After a refusal none ever runs: another writer has the log. It writes nothing.

import { invariant } from '../model/assert.ts';
import type { LogRecord } from '../model/records.ts';
import type { Appended, AppendResult } from './log.ts';

type Commit = () => Appended;

export class AppendLine {
  private end: 'fenced' | 'failed' | undefined;
  private last: Promise<unknown> = Promise.resolve();
  /** Commits under way or waiting in the line. */
  private underWay = 0;

  get fenced(): boolean {
    return this.end === 'fenced';
  }

  /**
   * Runs the commit after those before it; at once, within this call, when no commit is under way.
   */
  run(commit: Commit): Appended {
    if (this.underWay > 0) return this.enter(this.last.then(() => this.begin(commit)));
    const result = this.begin(commit);
    return result instanceof Promise ? this.enter(result) : result;
  }

  /**
   * Asks in the same line as the commits. Only a refusal ends the writer, not a missing answer.
   */
  confirm(ask: () => Promise<AppendResult>): Promise<AppendResult> {
    const asking = async (): Promise<AppendResult> => {
      if (this.end !== undefined) return this.end;
      // A question writes nothing: without its answer, too, it is known what the log holds (R27).
      const result = await ask().catch(() => 'failed' as const);
      if (result === 'fenced') this.end = result;
      return result;
    };
    return this.enter(this.underWay > 0 ? this.last.then(asking) : asking());
  }

  /** Another writer was found to have the log. */
  deposed(): void {
    this.end = 'fenced';
  }

  /** Resolves when nothing is under way any more. */
  async idle(): Promise<void> {
    while (this.underWay > 0) await this.last;
  }

  /** After 'failed': later commits are tried again. A fenced writer stays fenced. */
  reopened(): void {
    if (this.end === 'failed') this.end = undefined;
  }

  private enter(running: Promise<AppendResult>): Promise<AppendResult> {
    this.underWay += 1;
    const leave = (): void => {
      this.underWay -= 1;
    };
    this.last = running.then(leave, leave);
    return running;
  }

  private begin(commit: Commit): Appended {
    if (this.end !== undefined) return this.end;
    try {
      const result = commit();
      if (result instanceof Promise) return result.then(this.ended, this.broken);
      return this.ended(result);
    } catch (error) {
      return this.broken(error);
    }
  }

  private readonly ended = (result: AppendResult): AppendResult => {
    if (result !== 'durable') this.end = result;
    return result;
  };

  private readonly broken = (error: unknown): never => {
    this.end = 'failed';
    throw error;
  };
}

/**
 * A group is numbered without a gap; anything else is a bug of the caller.
 * @returns the first number.
 */
export function assertContiguous(records: readonly LogRecord[]): number {
  const first = records[0]?.seq ?? 0;
  invariant(first >= 1, 'a group has at least one record, numbered from 1');
  for (let i = 1; i < records.length; i++) {
    invariant(records[i]?.seq === first + i, 'record', first + i, 'of a group is missing');
  }
  return first;
}
