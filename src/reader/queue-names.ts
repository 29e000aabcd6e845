// Owns the answer to which queue a record belongs to: it stands in the task's TaskCreated only, so
// recent answers are remembered, a bounded number of them.

import type { LogReader } from '../log/log.ts';
import { type LogRecord, taskOf } from '../model/records.ts';
import type { QueueOf } from './log-query.ts';

const REMEMBERED_MAX = 20_000;

export function queueNames(log: Pick<LogReader, 'get'>): QueueOf {
  const names = new Map<number, string | undefined>();
  return (record: LogRecord) => {
    if (record.type === 'TaskCreated') return record.queue;
    const task = taskOf(record);
    if (task === 0) return undefined;
    if (names.has(task)) return names.get(task);
    const created = log.get(task);
    const name = created?.type === 'TaskCreated' ? created.queue : undefined;
    // The oldest answer goes; a task that is still written about comes back by one more read.
    if (names.size >= REMEMBERED_MAX) names.delete(names.keys().next().value as number);
    names.set(task, name);
    return name;
  };
}
