// Owns `state`: prints the state as it was after any record of the log, rebuilt from that record
// and all records before it.

import type { Command } from 'commander';
import { stateDigest } from '../core/digest.ts';
import { queuesByName, statsBody } from '../core/overview.ts';
import type { State } from '../core/state.ts';
import { WorkerRegistry } from '../core/worker-registry.ts';
import { formatLeaseId, formatTaskId } from '../model/ids.ts';
import { lineText } from '../model/safe-text.ts';
import { timeText } from '../model/time-text.ts';
import { type Io, say } from './command.ts';
import {
  assertTold,
  dataDirOf,
  type OfflineOptions,
  stateAt,
  untilOf,
  withDataDir,
  withLog,
} from './offline.ts';
import { dateText } from './words.ts';

const LEASES_SHOWN = 1_000;

export function define(command: Command, io: Io): void {
  withDataDir(command)
    .option('--at <record>', 'the state as it was after this record (default: the newest)')
    .action(async (options: OfflineOptions) => {
      const body = await withLog(dataDirOf(options, io), async (log) => {
        const until = untilOf(options, log);
        const state = await stateAt(log, until, io);
        // After it was read: a server may have removed something under our hands.
        assertTold(log, until);
        return bodyOf(state);
      });
      say(io.stdout, options.json === true ? JSON.stringify(body) : text(body));
    });
}

type Fields = Readonly<Record<string, unknown>>;
interface Body extends Fields {
  readonly seq: number;
  readonly at: number;
  readonly tasks: Readonly<Record<string, number>>;
  readonly queues: readonly Fields[];
  readonly leases: readonly Fields[];
}

function bodyOf(state: State): Body {
  const now = state.lastAt;
  const {
    tasks,
    now: _,
    queues: __,
    workers: ___,
    ...counts
  } = statsBody(state, new WorkerRegistry(), now);
  const leases = [...state.leases.all()].toSorted((a, b) => a.leaseId - b.leaseId);
  return {
    seq: state.lastSeq,
    at: now,
    digest: stateDigest(state),
    tasks: tasks as Record<string, number>,
    ...counts,
    queues: queuesByName(state, now),
    leases: leases.slice(0, LEASES_SHOWN).map((lease) => ({
      lease_id: formatLeaseId(lease.leaseId),
      task_id: formatTaskId(lease.taskId),
      worker_id: lease.workerId,
      attempt: lease.attempt,
      granted_at: lease.grantedAt,
      lease_expiry: lease.expiry,
      execution_deadline: lease.deadline,
    })),
  };
}

function text(body: Body): string {
  const tasks = Object.entries(body.tasks).map(([name, count]) => `${count} ${name}`);
  return [
    `After record ${body.seq}, ${dateText(body.at)} UTC, digest ${body['digest']}`,
    `Tasks: ${tasks.join(', ')}`,
    `Expirations ${body['lease_expirations']}, duplicate executions ` +
      `${body['duplicate_executions']}, late reports ${body['late_reports']}, retries ` +
      `${body['retries']}, restarts ${body['coordinator_restarts']}`,
    ...body.queues.map(
      (one) =>
        `Queue ${one['queue']}: ${one['waiting']} waiting (${one['eligible']} eligible), ` +
        `${one['leased']} leased, ${one['completed']} completed, ${one['failed']} failed, ` +
        `${one['dead']} dead`,
    ),
    ...body.leases.map(
      (one) =>
        `Lease ${one['lease_id']} of ${one['task_id']}: ${lineText(one['worker_id'])}, attempt ` +
        `${one['attempt']}, until ${timeText(one['lease_expiry'] as number, body.at)}`,
    ),
  ].join('\n');
}
