// Nodes, members of etcd and the ways between them fail under a load: what many clients were told,
// by whichever node, is what one coordinator would have told them one after another, in the order
// of the one log that all nodes hold.

import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import type { LogRecord } from '../../src/model/records.ts';
import { Random } from '../simulator/random.ts';
import { type EtcdCluster, withEtcd } from '../support/etcd-cluster.ts';
import { Cut } from '../support/links.ts';
import { type Fields, recordsAt } from '../support/server.ts';
import { sized } from '../support/tier.ts';
import { audit } from './audit.ts';
import { compare } from './history.ts';
import { NODE_FAULTS } from './nodes-faults.ts';
import { NodesLink } from './nodes-link.ts';
import { NodesRig } from './nodes-rig.ts';
import { roundsOf } from './rounds.ts';
import { type Asked, asked, Traffic } from './traffic.ts';
import { nothingIn } from './verified.ts';
import { Witness } from './witness.ts';

const KNOBS = {
  leaseDurationMs: 900,
  heartbeatIntervalMs: 300,
  executionWindowMs: 2_000,
  maxRetries: 2,
  backoffMs: 0,
  backoffFactor: 1,
  poisonThreshold: 4,
  retentionMs: 0,
  retentionFailedMs: 0,
  answerMaxBytes: 16_777_216,
};
const ARGS = [
  ...['--lease-duration-ms', '900', '--heartbeat-interval-ms', '300', '--max-retries', '2'],
  ...['--execution-window-ms', '2000', '--backoff-ms', '0', '--backoff-factor', '1'],
  ...['--poison-threshold', '4'],
];
const CLIENTS = 6;
/** Faults of a round; a round of the full size has each of them once. */
const FAULTS = sized(Object.keys(NODE_FAULTS).length, 1);
const FAULT_MS = 90_000;
const CALM_MS = 400;
/** As long as a node may sleep: such a reader has its answer when it wakes. */
const PATIENT_MS = 8_000;
const RECENT = 60;

withEtcd('several nodes under faults', {}, (etcd: () => EtcdCluster) => {
  const rounds = roundsOf('cluster', 1, 60_000 + FAULTS * FAULT_MS);

  it(`tell nothing that one coordinator would not (${FAULTS} faults a round)`, async () => {
    await rounds.run(async (seed) => {
      const rig = await NodesRig.open(etcd(), ARGS);
      try {
        await play(rig, new Random(seed));
      } finally {
        await rig.close();
      }
    });
  }).timeout(rounds.timeoutMs);
});

async function play(rig: NodesRig, dice: Random): Promise<void> {
  const history: Asked[] = [];
  let isOver = false;
  const { ports } = rig;
  const traffic = new Traffic((i) => new NodesLink(ports, new Random(dice.below(1e9), `${i}`)), {
    seed: dice.below(1_000_000),
    clients: CLIENTS,
    pace: () => pause(5),
    onCut: () => pause(50),
  });
  const readers = ports.map((port) => {
    const link = new NodesLink([port], new Random(dice.below(1e9)), PATIENT_MS);
    return read(link, traffic.history, history, () => isOver);
  });
  const done: string[] = [];
  let changes = 0;
  for (const name of some(Object.keys(NODE_FAULTS), FAULTS, dice)) {
    const before = answered(traffic.history);
    if (await NODE_FAULTS[name]?.(rig, dice)) changes += 1;
    done.push(name);
    await rig.whole();
    while (answered(traffic.history) < before + CLIENTS * 5) await pause(20);
    await pause(CALM_MS);
  }
  await traffic.stop();
  isOver = true;
  await Promise.all(readers);
  const { leader } = await rig.whole();
  const lines = await recordsAt(rig.stage.url(leader));
  rig.over();
  const records = (await rig.stage.compared()) as unknown as LogRecord[];
  const all = [...traffic.history, ...history];
  console.log(JSON.stringify({ asked: all.length, records: records.length, done }));
  nothingIn(rig.wrong);
  nothingIn(wrongIn(all, records, lines));
  const starts = records.filter(({ type }) => type === 'CoordinatorStarted');
  expect(starts.length, 'leaders').to.be.greaterThan(changes);
  // Controls: the same judges, and one answer or one record that is another one.
  expect(wrongIn(lied(all), records, lines)).to.not.deep.equal([]);
  const isTold = new Set(all.map(({ answer }) => answer?.['record']));
  const lost = lines.filter(({ seq, type }) => type === 'TaskCompleted' && isTold.has(seq)).at(-1);
  expect(
    compare(
      all,
      lines.filter((line) => line !== lost),
    ),
  ).to.not.deep.equal([]);
}

function wrongIn(
  history: readonly Asked[],
  records: readonly LogRecord[],
  lines: readonly Fields[],
): string[] {
  // An answer that says that nobody knows is no answer, and figures are of no task.
  const known = history.flatMap((one): Asked[] => {
    const { op, params, called, answer } = one;
    if (op === 'stats') return [];
    return [answer?.['outcome'] === 'UNAVAILABLE' ? { op, params, called } : one];
  });
  return [
    ...audit(lines),
    ...compare(history, lines),
    ...new Witness(KNOBS, records, known).look(),
  ];
}

/** One node alone is asked for what clients have just been told of, by whichever node. */
async function read(
  link: NodesLink,
  told: readonly Asked[],
  history: Asked[],
  isOver: () => boolean,
): Promise<void> {
  const dice = new Random(1);
  while (!isOver()) {
    const recent = told.slice(-RECENT).flatMap(({ params, answer }) => {
      const task = params['task_id'] ?? answer?.['task_id'];
      return answer === undefined || task === undefined ? [] : [task];
    });
    await pause(20);
    if (recent.length === 0) continue;
    await asked(history, link, 'task', { task_id: dice.pick(recent) }).catch((error: unknown) => {
      if (!(error instanceof Cut)) throw error;
    });
  }
  link.close();
}

/** The history with one read of a completed task that is told as if nothing had happened to it. */
function lied(history: readonly Asked[]): Asked[] {
  const completed = new Map<unknown, number>();
  for (const { op, params, answer, returned = 0 } of history) {
    if (op === 'complete' && answer?.['outcome'] === 'COMMITTED') {
      completed.set(params['task_id'], returned);
    }
  }
  const place = history.findIndex(({ op, params, called, answer }) => {
    const isRead = op === 'task' && answer?.['state'] === 'COMPLETED';
    return isRead && called > (completed.get(params['task_id']) ?? Number.POSITIVE_INFINITY);
  });
  const read = history[place] as Asked;
  expect(read, 'a read of a task that had been completed').to.not.equal(undefined);
  return history.with(place, { ...read, answer: { ...read.answer, state: 'LEASED' } });
}

const answered = (history: readonly Asked[]): number =>
  history.filter(({ answer }) => answer !== undefined && answer['outcome'] !== 'UNAVAILABLE')
    .length;

/** So many of them in another order. */
function some<T>(all: readonly T[], count: number, dice: Random): T[] {
  const left = [...all];
  return Array.from({ length: Math.min(count, all.length) }, () => {
    return left.splice(dice.below(left.length), 1)[0] as T;
  });
}
