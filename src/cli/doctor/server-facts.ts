// Owns asking a running server for the facts that `doctor` judges. It only reads.

import { clock } from '../../../actors/shared/clock.ts';
import { monotonicMs } from '../../client/local-clock.ts';
import type { Wire } from '../../client/transport.ts';
import type { ClusterView } from '../../model/cluster-view.ts';
import type { Fields } from '../overview-table.ts';
import { successOf } from '../refusals.ts';
import type { Server } from '../server.ts';
import type { ServerOptions } from '../server-options.ts';
import type { ClusterFacts, ProcessFacts, ServerFacts } from './judge-server.ts';

const SAMPLES = 5;
const ASKED_WITHIN_MS = 60_000;
/** Expiries are looked for in so many of the newest records, and so many of their tasks. */
const RECORDS_BACK = 100_000;
const TASKS_LOOKED_AT = 50;

type Ask = (op: string, params?: Wire) => Promise<Fields>;

/** @throws CliError when no answer comes, or the server refuses */
export async function serverFacts(
  server: Server,
  ownVersion: string,
  options: ServerOptions,
): Promise<ServerFacts> {
  const ask: Ask = async (op, params = {}) => successOf(await server.ask(op, params), options);
  const { stats, answerMs, localOffsetMs } = await timed(ask);
  const config = await ask('config');
  const knob = (name: string): number => Number((config[name] as Fields | undefined)?.['value']);
  const isHttp = /^https?:/.test(server.url);
  const number = (name: string): number => Number(stats[name] ?? 0);
  const tasks = stats['tasks'] as Record<string, number>;
  return {
    answerMs,
    mode: String(stats['mode']),
    ownVersion,
    version: isHttp ? String(((await ask('openapi'))['info'] as Fields)['version']) : undefined,
    clockOffsetMs: number('clock_offset_ms'),
    localOffsetMs,
    lagMs: number('event_loop_lag_ms'),
    refused: Number((stats['mailbox'] as Fields | undefined)?.['refused'] ?? 0),
    logBytes: number('log_bytes'),
    forgottenBytes: number('log_forgotten_bytes'),
    retentionMs: knob('retention_ms'),
    retentionFailedMs: knob('retention_failed_ms'),
    failedTasks: (tasks['FAILED'] ?? 0) + (tasks['DEAD'] ?? 0),
    process: isHttp ? processFacts(await metricsText(ask)) : undefined,
    cluster: clusterFacts(await ask('cluster')),
    ...(await unaskedQueues(ask)),
    poisonThreshold: knob('poison_threshold'),
    expiring: await expiringTasks(ask, number('log_last_sequence')),
  };
}

function clusterFacts(view: Fields): ClusterFacts | undefined {
  if (view['role'] === 'single') return undefined;
  const { nodes, etcd, refusing } = view as unknown as ClusterView;
  return { nodes: nodes.length, holders: etcd?.holders, refusing };
}

const metricsText = async (ask: Ask): Promise<string> =>
  String((await ask('metrics', { format: 'text' }))['text']);

/** The quickest of some answers says most about the clocks. */
async function timed(ask: Ask) {
  const samples: { stats: Fields; tookMs: number; localOffsetMs: number }[] = [];
  for (let n = 0; n < SAMPLES; n += 1) {
    const askedAt = clock.wall();
    const began = monotonicMs();
    const stats = await ask('stats');
    const tookMs = monotonicMs() - began;
    const serverWall = Number(stats['now']) - Number(stats['clock_offset_ms'] ?? 0);
    samples.push({ stats, tookMs, localOffsetMs: Math.round(serverWall - askedAt - tookMs / 2) });
  }
  const sorted = samples.toSorted((a, b) => a.tookMs - b.tookMs);
  const [quickest] = sorted as [(typeof sorted)[0]];
  const median = sorted[SAMPLES >> 1] ?? quickest;
  return { ...quickest, answerMs: median.tookMs };
}

/** Queues with tasks to lease for which no worker asked lately, and none waits; of one page. */
async function unaskedQueues(ask: Ask) {
  const body = await ask('queues', { sort: 'asked' });
  const now = Number(body['now']);
  // The order puts those that nobody asks for first.
  const isUnasked = (row: Fields): boolean =>
    Number(row['eligible']) > 0 &&
    Number(row['parked_requests']) === 0 &&
    now - Number(row['last_asked_at'] ?? 0) > ASKED_WITHIN_MS;
  const rows = body['queues'] as Fields[];
  const unasked = rows.filter(isUnasked).map((row) => String(row['queue']));
  const isWhole = unasked.length < rows.length || typeof body['next'] !== 'string';
  return { unasked, isWhole, upMs: now - Number(body['since']) };
}

async function expiringTasks(ask: Ask, last: number) {
  const from = Math.max(1, last - RECORDS_BACK);
  const { records } = await ask('log', { from, type: 'LeaseExpired', tail: 1_000 });
  const ids = [...new Set((records as Fields[]).map((record) => String(record['task_id'])))];
  const found: { taskId: string; expirations: number }[] = [];
  for (const taskId of ids.slice(-TASKS_LOOKED_AT)) {
    const { tasks } = await ask('tasks', { after: `T${Number(taskId.slice(1)) - 1}`, limit: 1 });
    const [task] = tasks as Fields[];
    if (task?.['task_id'] !== taskId) continue;
    const isOpen = task['state'] === 'WAITING' || task['state'] === 'LEASED';
    if (isOpen) found.push({ taskId, expirations: Number(task['expirations']) });
  }
  return found;
}

const COMMITS = 'leasehold_log_commit_duration_seconds';

/** @param text in the format of Prometheus */
export function processFacts(text: string): ProcessFacts {
  const valueOf = (name: string): number | undefined => {
    const found = new RegExp(`^${name} (\\S+)$`, 'm').exec(text);
    return found === null ? undefined : Number(found[1]);
  };
  const commits = valueOf(`${COMMITS}_count`) ?? 0;
  const buckets = [
    ...text.matchAll(new RegExp(`^${COMMITS}_bucket\\{le="(\\S+)"\\} (\\d+)$`, 'gm')),
  ];
  const within = buckets.find(([, , count]) => Number(count) >= commits * 0.99);
  return {
    commits,
    commitMeanMs: commits === 0 ? 0 : ((valueOf(`${COMMITS}_sum`) ?? 0) / commits) * 1_000,
    commitMostMs: Number(within?.[1] ?? 0) * 1_000,
    openFiles: valueOf('process_open_fds'),
    maxFiles: valueOf('process_max_fds'),
  };
}
