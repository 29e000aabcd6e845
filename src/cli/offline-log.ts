// Owns `log --data-dir`: records read from a data directory, without a server or beside one.

import type { LogReader } from '../log/log.ts';
import { PAGE_DEFAULT } from '../model/limits.ts';
import type { RecordType } from '../model/records.ts';
import { readPage } from '../reader/log-pages.ts';
import { goOn, type LogQuery } from '../reader/log-query.ts';
import { queueNames } from '../reader/queue-names.ts';
import { CliError, EXIT, type Io, say } from './command.ts';
import { dataDirOf, type OfflineOptions, removedText, withLog } from './offline.ts';
import { noneText } from './words.ts';

/** What is asked, as the query of /v1/log. */
interface Query {
  readonly from?: number;
  readonly limit?: number;
  readonly tail?: number;
  readonly task?: string;
  readonly queue?: string;
  readonly type?: RecordType;
}
type Fields = Readonly<Record<string, unknown>>;

/**
 * @param show receives each record, in order
 * @throws CliError when there is no log, or no task with that id in the log
 */
export async function logOffline(
  asked: Query,
  options: OfflineOptions,
  io: Io,
  show: (record: Fields) => void,
): Promise<void> {
  await withLog(dataDirOf(options, io), async (log) => {
    const { from = 1, tail, limit = tail ?? PAGE_DEFAULT, task, queue, type } = asked;
    const taskId = task === undefined ? undefined : Number(task.slice(1));
    if (taskId !== undefined && log.get(taskId)?.type !== 'TaskCreated') {
      const text = `there is no task ${task} in this log${removedText(log, taskId)}`;
      throw new CliError(EXIT.failed, `leasehold: ${text}`);
    }
    const shown = await showAll(log, show, { from, limit, tail, taskId, queue, type });
    if (shown === 0) say(io.stderr, noneText(log.lastNumber));
  });
}

/** @returns how many records were shown. */
async function showAll(
  log: LogReader,
  show: (record: Fields) => void,
  asked: LogQuery,
): Promise<number> {
  const paging = { log, queueOf: queueNames(log), pause: () => Promise.resolve() };
  const last = log.lastNumber;
  let query: LogQuery = asked;
  let left = asked.limit;
  while (left > 0) {
    const page = await readPage(paging, { ...query, limit: left }, last);
    for (const line of page.text.split('\n')) if (line !== '') show(JSON.parse(line));
    left -= page.records;
    if (page.next > page.to) break;
    query = { ...goOn(query, page.next), to: page.to };
  }
  return asked.limit - left;
}
