// Owns `log --data-dir`: records read from a data directory, without a server or beside one.

import type { LogReader } from '../log/log.ts';
import { PAGE_DEFAULT } from '../model/limits.ts';
import type { RecordType } from '../model/records.ts';
import { readPage } from '../reader/log-pages.ts';
import { goOn, type LogQuery } from '../reader/log-query.ts';
import { queueNames } from '../reader/queue-names.ts';
import type { Io } from './command.ts';
import { dataDirOf, type OfflineOptions, withLog } from './offline.ts';

/** What is asked, as the query of /v1/log. */
export type Query = ReadonlyMap<string, string>;

/** @param show called with each line of JSON, in order. */
export async function logOffline(
  asked: Query,
  options: OfflineOptions,
  io: Io,
  show: (line: string) => void,
): Promise<void> {
  await withLog(dataDirOf(options, io), async (log) => {
    const number = (name: string): number | undefined => {
      const given = asked.get(name);
      return given === undefined ? undefined : Number(given);
    };
    const task = asked.get('task');
    await showAll(log, show, {
      from: number('from') ?? 1,
      limit: number('limit') ?? number('tail') ?? PAGE_DEFAULT,
      tail: number('tail'),
      taskId: task === undefined ? undefined : Number(task.slice(1)),
      queue: asked.get('queue'),
      type: asked.get('type') as RecordType | undefined,
    });
  });
}

async function showAll(
  log: LogReader,
  show: (line: string) => void,
  asked: LogQuery,
): Promise<void> {
  const paging = { log, queueOf: queueNames(log), pause: () => Promise.resolve() };
  const last = log.lastNumber;
  let query: LogQuery = asked;
  for (let left = asked.limit; left > 0; ) {
    const page = await readPage(paging, { ...query, limit: left }, last);
    for (const line of page.text.split('\n')) if (line !== '') show(line);
    left -= page.records;
    if (page.next > page.to) return;
    query = { ...goOn(query, page.next), to: page.to };
  }
}
