// Owns the judgement at the end of the demonstration: every result is compared with a direct
// computation, and the log with the processes that were killed. Also prints the records that
// explain why one task ran twice.

import type { Client } from '../../index.ts';
import { recordLine } from '../../model/record-line.ts';
import type { FileFacts } from './file-hash.ts';

export interface FileTask {
  readonly taskId: string;
  readonly file: string;
  readonly facts: FileFacts;
}

export interface Story {
  readonly client: Client;
  readonly url: string;
  readonly fileTasks: readonly FileTask[];
  /** What the killed worker was in the middle of. */
  readonly victim: { readonly taskId: string; readonly leaseId: string };
  print(line: string): void;
}

type Fields = Readonly<Record<string, unknown>>;
const PAGE = 1_000;

/** Prints what was found. @returns a sentence for everything that is off. */
export async function check(story: Story): Promise<string[]> {
  const { print } = story;
  const faults = await wrongResults(story);
  const right = story.fileTasks.length - faults.length;
  print(`\n${right} of ${story.fileTasks.length} results equal a direct computation.`);

  const records = await readLog(story.url);
  const twice = records.filter(({ task_id }) => task_id === story.victim.taskId);
  print(`\n${story.victim.taskId} ran twice, and these records explain it:`);
  for (const record of twice) print(`  ${recordLine(record)}`);
  print(`\n${await readStory(story)}`);
  faults.push(...wrongVictim(twice, story.victim.leaseId), ...wrongCompletions(records, story));

  const stats = await story.client.stats();
  if (stats['coordinator_restarts'] !== 1) faults.push('the coordinator was not restarted once');
  print(`\n${totals(story.fileTasks, records.length, stats)}`);
  return faults;
}

async function wrongResults({ client, fileTasks }: Story): Promise<string[]> {
  const faults: string[] = [];
  for (const { taskId, file, facts } of fileTasks) {
    const { state, result } = await client.task(taskId);
    const told = result?.toString('utf8');
    if (state === 'COMPLETED' && told === JSON.stringify(facts)) continue;
    faults.push(`${taskId} (${file}) is ${state} with ${told}, not ${JSON.stringify(facts)}`);
  }
  return faults;
}

function wrongVictim(records: readonly Fields[], leaseId: string): string[] {
  const faults: string[] = [];
  const types = records.map(({ type }) => type);
  const grants = records.filter(({ type }) => type === 'LeaseGranted');
  if (grants.length < 2) faults.push('the task of the killed worker was granted once only');
  const expired = records.some(
    (each) => each['type'] === 'LeaseExpired' && each['lease_id'] === leaseId,
  );
  if (!expired) faults.push(`${leaseId}, of the killed worker, did not expire`);
  if (types.at(-1) !== 'TaskCompleted') faults.push(`the last record of it is ${types.at(-1)}`);
  return faults;
}

function wrongCompletions(records: readonly Fields[], { fileTasks }: Story): string[] {
  const completed = records.filter(({ type }) => type === 'TaskCompleted');
  const tasks = new Set(completed.map(({ task_id }) => task_id));
  const same = tasks.size === completed.length && tasks.size === fileTasks.length;
  if (same) return [];
  return [`${completed.length} completions of ${tasks.size} tasks for ${fileTasks.length} files`];
}

async function readStory({ url, victim }: Story): Promise<string> {
  const accept = { accept: 'text/plain' };
  const response = await fetch(`${url}/v1/tasks/${victim.taskId}/explain`, { headers: accept });
  if (!response.ok) throw new Error(`explain: ${response.status} ${await response.text()}`);
  return response.text();
}

async function readLog(url: string): Promise<Fields[]> {
  const records: Fields[] = [];
  for (let from = 1; ; from = Number(records.at(-1)?.['seq']) + 1) {
    const response = await fetch(`${url}/v1/log?from=${from}&limit=${PAGE}`);
    if (!response.ok) throw new Error(`GET /v1/log: ${response.status} ${await response.text()}`);
    const lines = (await response.text()).split('\n').filter((line) => line !== '');
    if (lines.length === 0) return records;
    for (const line of lines) records.push(JSON.parse(line) as Fields);
  }
}

function totals(fileTasks: readonly FileTask[], records: number, stats: Fields): string {
  const sum = (of: (facts: FileFacts) => number): number =>
    fileTasks.reduce((total, { facts }) => total + of(facts), 0);
  const lines: readonly [string, unknown][] = [
    ['files', fileTasks.length],
    ['bytes', sum(({ bytes }) => bytes)],
    ['lines', sum(({ lines: count }) => count)],
    ['records in the log', records],
    ['leases that expired', stats['lease_expirations']],
    ['duplicate executions', stats['duplicate_executions']],
    ['late reports', stats['late_reports']],
    ['restarts of the coordinator', stats['coordinator_restarts']],
  ];
  return lines.map(([name, value]) => `${name.padEnd(28)} ${value}`).join('\n');
}
