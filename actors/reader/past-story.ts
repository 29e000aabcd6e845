// Owns the stories of tasks as of an earlier record. Each takes a replay of the log up to there, so
// they are told one after the other, in steps between which the thread does everything else.

import type { Explanation } from '../../src/explain/explanation.ts';
import type { LogReader } from '../../src/log/log.ts';
import { notRemembered, type Rejected, rejected } from '../../src/model/refusal.ts';
import { isRemoved, removedText, storyAt } from '../../src/reader/story-at.ts';

export interface PastQuestion {
  readonly taskId: number;
  readonly at: number;
  /** Nobody waits for the answer any more. */
  isCancelled(): boolean;
}

/** The log, and how far it may be shown. */
interface Shown {
  readonly log: LogReader;
  /** The newest durable record. */
  durable(): number;
  /** How far the log went when history was last removed from it. */
  removedAt(): number;
}

/** More would wait for minutes on a long log, and each holds a question open. */
const WAITING_MAX = 8;

export class PastStories {
  #waiting = 0;
  #last: Promise<unknown> = Promise.resolve();

  /** @throws LogCorrupt, and an Error when too many are asked for at a time. */
  tell(question: PastQuestion, reading: Shown): Promise<Explanation | Rejected> {
    const refusal = refuse(question, reading);
    if (refusal !== undefined) return Promise.resolve(refusal);
    if (this.#waiting === WAITING_MAX) throw new Error('too many earlier states are asked for');
    this.#waiting += 1;
    const told = this.#last.then(() => tellNow(question, reading));
    this.#last = told
      .catch(() => {})
      .finally(() => {
        this.#waiting -= 1;
      });
    return told;
  }
}

/** Before anything is read: the record must be one that the log has. */
function refuse({ at }: PastQuestion, { log, durable }: Shown): Rejected | undefined {
  const newest = durable();
  if (at > newest) {
    return rejected('malformed', `The log ends with record ${newest}.`, { field: 'at' });
  }
  if (!isRemoved(log, at)) return undefined;
  return rejected('malformed', removedText(at), { field: 'at' });
}

async function tellNow(
  { taskId, at, isCancelled }: PastQuestion,
  { log, removedAt }: Shown,
): Promise<Explanation | Rejected> {
  const pause = async (): Promise<boolean> => {
    await new Promise((resolve) => setImmediate(resolve));
    return !isCancelled();
  };
  const past = { taskId, until: at, removedAt };
  const told = isCancelled() ? undefined : await storyAt(log, past, pause);
  if (told !== undefined) return told;
  return rejected('unknown_task', `${notRemembered(taskId)} after record ${at}`);
}
