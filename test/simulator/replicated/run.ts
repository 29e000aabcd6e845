// Owns one run of a cluster: trouble until so many records are agreed on, then calm, in which some
// node leads and everything comes to its end.

import { stateDigest } from '../../../src/core/digest.ts';
import { MemoryLog } from '../../../src/log/memory-log.ts';
import { replay } from '../../../src/loop/replay.ts';
import { checkAgreement } from '../checkers/agreement.ts';
import { Violation } from '../checkers/violation.ts';
import { Clients } from '../clients.ts';
import { Network } from '../network.ts';
import { digestText } from '../node.ts';
import type { Run } from '../run.ts';
import { quiet } from '../settings.ts';
import { Workers } from '../workers.ts';
import { Cluster } from './cluster.ts';
import type { ClusterSettings } from './settings.ts';
import { ClusterDisasters } from './troubles.ts';

const CALM_EVENTS = 200_000;
/** A run in which nobody can lead for so long is stuck. */
const EVENTS_A_RECORD = 2_000;

export async function runCluster(settings: ClusterSettings): Promise<Run> {
  const cluster = new Cluster(settings);
  const transcript = (lines: number): string => cluster.transcript.words(lines);
  try {
    await play(cluster);
    return { records: cluster.records, transcript };
  } catch (error) {
    const { message, stack } = error as Error;
    const failure =
      error instanceof Violation
        ? { checker: error.checker, message }
        : { checker: 'exception', message: stack ?? message };
    return { records: cluster.records, failure, transcript };
  }
}

async function play(cluster: Cluster): Promise<void> {
  const network = new Network(cluster);
  const clients = new Clients(cluster, network);
  new Workers(cluster, network);
  const disasters = new ClusterDisasters(cluster);
  let events = 0;
  while (cluster.records < cluster.settings.records) {
    await cluster.step();
    disasters.next();
    events += 1;
    if (events > (cluster.records + 100) * EVENTS_A_RECORD) {
      throw new Violation('liveness', `${cluster.records} records in ${events} events`);
    }
  }
  clients.isOpen = false;
  calm(cluster);
  await settle(cluster, network);
}

function calm(cluster: Cluster): void {
  cluster.troubles = quiet(cluster.troubles);
  const none = Object.keys(cluster.cluster).map((name) => [name, 0]);
  cluster.cluster = Object.fromEntries(none);
  cluster.isCalm = true;
}

async function settle(cluster: Cluster, network: Network): Promise<void> {
  const { book, expected } = cluster.model;
  for (let n = 0; n < CALM_EVENTS; n += 1) {
    await cluster.step();
    const open = book.waiting.size + book.leased.size + expected.size;
    const view = cluster.judge.leader?.loop?.view;
    const isAtRest = view?.isIdle === true && view.mode === 'serving';
    if (open === 0 && isAtRest && book.lastSeq === cluster.agreed.last) return audit(cluster);
    if (open > 0 && open === book.waiting.size) passBackoff(cluster);
    if (n > CALM_EVENTS / 4 && n % 1_000 === 0) {
      for (const taskId of [...book.waiting.keys()]) {
        network.tell({ op: 'kill', taskId, reason: 'it never ends' });
      }
    }
  }
  const left = [...book.waiting.keys(), ...book.leased.keys()].slice(0, 5).join(', ');
  throw new Violation('liveness', `tasks ${left} never come to an end`);
}

function passBackoff(cluster: Cluster): void {
  let next = Number.POSITIVE_INFINITY;
  for (const task of cluster.model.book.waiting.values()) next = Math.min(next, task.eligibleAt);
  if (next > cluster.now() + 1_000) cluster.pass(next - cluster.now());
}

/** The state of the leader, its mirror replayed, and the model say the same. */
function audit(cluster: Cluster): void {
  const { leader, model } = cluster.judge;
  if (leader?.loop === undefined) throw new Violation('liveness', 'nobody leads');
  const { state } = leader.loop.view;
  checkAgreement(state, model.book);
  const mirror = new MemoryLog({ store: leader.machine.mirror });
  const replayed = replay(mirror, { digestText }).state;
  const digests = [state, replayed].map(stateDigest);
  if (new Set(digests).size > 1) throw new Violation('digest', `differ: ${digests.join(' ')}`);
}
