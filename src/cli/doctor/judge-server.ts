// Owns what `doctor` thinks of a running server, from facts that were asked for. It asks nothing.

import { plural } from '../../explain/names.ts';
import { durationText } from '../../model/time-text.ts';
import { type Finding, judged, msText, sizeText } from './finding.ts';

export interface ServerFacts {
  /** The median time of an answer. */
  readonly answerMs: number;
  /** `serving`, `read-only` and so on. */
  readonly mode: string;
  readonly ownVersion: string;
  /** undefined: it cannot be asked over this transport. */
  readonly version: string | undefined;
  /** Coordinator time minus the server's wall clock. */
  readonly clockOffsetMs: number;
  /** The server's wall clock minus ours; half of the answer's time is not known. */
  readonly localOffsetMs: number;
  readonly lagMs: number;
  readonly refused: number;
  readonly logBytes: number;
  readonly forgottenBytes: number;
  readonly retentionMs: number;
  readonly retentionFailedMs: number;
  readonly failedTasks: number;
  /** undefined: metrics cannot be asked over this transport. */
  readonly process: ProcessFacts | undefined;
  /** undefined: a server without a cluster. */
  readonly cluster: ClusterFacts | undefined;
  /** How long what follows has been watched. */
  readonly upMs: number;
  readonly unasked: readonly string[];
  /** Whether these are all of them. */
  readonly isWhole: boolean;
  readonly poisonThreshold: number;
  readonly expiring: readonly { readonly taskId: string; readonly expirations: number }[];
}

export interface ClusterFacts {
  /** Nodes that run. */
  readonly nodes: number;
  /** Machines with a running node that holds what etcd has deleted; undefined: etcd has it all. */
  readonly holders: number | undefined;
  /** Why new tasks are refused, in words. */
  readonly refusing: string | undefined;
}

export interface ProcessFacts {
  readonly commits: number;
  readonly commitMeanMs: number;
  /** 99 of 100 commits took no longer. */
  readonly commitMostMs: number;
  readonly openFiles: number | undefined;
  readonly maxFiles: number | undefined;
}

const GIB = 2 ** 30;
/** A long poll of a worker lasts so long at most. */
const ASKED_WITHIN_MS = 60_000;
const NAMED = 3;

export const judgeServer = (facts: ServerFacts): Finding[] => [
  answers(facts),
  version(facts),
  ...(facts.process === undefined ? [elsewhere()] : ofProcess(facts.process)),
  ...(facts.cluster === undefined ? [] : [cluster(facts.cluster)]),
  serverClock(facts),
  localClock(facts),
  load(facts),
  unasked(facts),
  poison(facts),
  failed(facts),
  retention(facts),
];

function answers({ answerMs, mode }: ServerFacts): Finding {
  const figure = `a read is answered in ${msText(answerMs)}; mode ${mode}`;
  const verdict = mode === 'serving' ? judged(answerMs, { look: 100, bad: 2_000 }) : 'bad';
  return { check: 'server', verdict, figure, page: 'wrong' };
}

function version({ version: server, ownVersion: own }: ServerFacts): Finding {
  const page = 'run';
  if (server === undefined) {
    const figure = `this command is ${own}; the server's is not told over a socket`;
    return { check: 'version', verdict: 'ok', figure, page };
  }
  const isSame = server === own;
  const figure = isSame ? `${own}, here and there` : `the server is ${server}, this command ${own}`;
  return { check: 'version', verdict: isSame ? 'ok' : 'look', figure, page };
}

const elsewhere = (): Finding => ({
  check: 'disk, files',
  verdict: 'look',
  figure: 'the metrics are told over HTTP only: give an http: URL, or the data directory',
  page: 'doctor',
});

function ofProcess(facts: ProcessFacts): Finding[] {
  const { commits, commitMeanMs, commitMostMs, openFiles, maxFiles } = facts;
  const took = `${msText(commitMeanMs)} on average, 99 of 100 within ${msText(commitMostMs)}`;
  const flush: Finding = {
    check: 'disk flush',
    verdict: commits === 0 ? 'ok' : judged(commitMeanMs, { look: 25, bad: 250 }),
    figure: commits === 0 ? 'nothing was written since the start' : `${took} (${commits} commits)`,
    page: 'alerts',
  };
  if (openFiles === undefined || maxFiles === undefined) return [flush];
  return [flush, fileLimit(maxFiles, openFiles)];
}

/** @param open undefined: not known */
export function fileLimit(most: number, open?: number): Finding {
  const mayBe = open === undefined ? `${most} may be open` : `${open} are open, ${most} may be`;
  const share = open === undefined ? 0 : open / most;
  const verdict = most < 256 || share >= 0.9 ? 'bad' : most < 4_096 || share >= 0.6 ? 'look' : 'ok';
  const figure = `${mayBe}; each connection takes one`;
  return { check: 'file descriptors', verdict, figure, page: 'wrong' };
}

function cluster({ nodes, holders, refusing }: ClusterFacts): Finding {
  const check = 'cluster';
  const page = 'cluster';
  if (refusing !== undefined) return { check, verdict: 'bad', figure: refusing, page };
  const where = holders === 1 ? 'one machine' : `${holders} machines`;
  const held =
    holders === undefined
      ? 'etcd has the whole log'
      : `what etcd has deleted lies on ${where} with a running node`;
  const isBad = holders !== undefined && holders < 2;
  const figure = `${nodes} node${nodes === 1 ? ' runs' : 's run'}; ${held}`;
  return { check, verdict: isBad ? 'bad' : nodes < 2 ? 'look' : 'ok', figure, page };
}

function serverClock({ clockOffsetMs }: ServerFacts): Finding {
  const off = Math.abs(clockOffsetMs);
  const way = clockOffsetMs < 0 ? 'behind' : 'ahead of';
  const figure = `coordinator time is ${durationText(off)} ${way} the server's wall clock`;
  const verdict = judged(off, { look: 1_000, bad: 3_600_000 });
  return { check: 'clock', verdict, figure, page: 'alerts' };
}

function localClock({ localOffsetMs, answerMs }: ServerFacts): Finding {
  const off = Math.abs(localOffsetMs);
  const way = localOffsetMs < 0 ? 'behind' : 'ahead of';
  const figure = `the server's clock is ${durationText(off)} ${way} the one here`;
  const verdict = judged(off - answerMs, { look: 1_000, bad: 3_600_000 });
  return { check: 'clock, from here', verdict, figure, page: 'alerts' };
}

function load({ lagMs, refused }: ServerFacts): Finding {
  const room = `${plural(refused, 'request')} refused for room`;
  const figure = `the coordinator runs ${msText(lagMs)} late; ${room}`;
  const late = judged(lagMs, { look: 200, bad: 2_000 });
  const verdict = late === 'ok' && refused > 0 ? 'look' : late;
  return { check: 'load', verdict, figure, page: 'alerts' };
}

function unasked({ unasked: queues, isWhole, upMs }: ServerFacts): Finding {
  const check = 'queues';
  const page = 'overview';
  if (queues.length === 0) {
    return { check, verdict: 'ok', figure: 'every queue with tasks to lease is asked for', page };
  }
  const named = queues.slice(0, NAMED).join(', ');
  const orMore = isWhole ? '' : ' or more';
  const more = queues.length > NAMED ? ` and ${queues.length - NAMED}${orMore} others` : '';
  const early = upMs < ASKED_WITHIN_MS ? `, but it was started ${durationText(upMs)} ago` : '';
  const figure = `nobody asks for ${named}${more}, where tasks wait${early}`;
  return { check, verdict: 'look', figure, page };
}

function poison({ poisonThreshold: most, expiring }: ServerFacts): Finding {
  const check = 'poison';
  const page = 'wrong';
  if (most === 0) {
    const figure = '--poison-threshold is 0: a task whose worker dies is tried for ever';
    return { check, verdict: expiring.length === 0 ? 'ok' : 'look', figure, page };
  }
  const near = expiring.filter(({ expirations: n }) => n >= Math.max(2, most / 2));
  const [worst] = near.toSorted((a, b) => b.expirations - a.expirations);
  if (worst === undefined) {
    return { check, verdict: 'ok', figure: `no task is near ${most} expiries in a row`, page };
  }
  const others = near.length === 1 ? '' : `, and ${near.length - 1} more are near it`;
  const times = `ran out ${worst.expirations} times`;
  const figure = `leases of ${worst.taskId} ${times}; ${most} in a row end it${others}`;
  return { check, verdict: worst.expirations >= most - 1 ? 'bad' : 'look', figure, page };
}

function failed({ failedTasks: count }: ServerFacts): Finding {
  const many = count === 1 ? '1 task is' : `${count} tasks are`;
  const figure =
    count === 0
      ? 'no task is FAILED or DEAD'
      : `${many} FAILED or DEAD: leasehold tasks --state FAILED (or DEAD) lists them`;
  return { check: 'failed tasks', verdict: count === 0 ? 'ok' : 'look', figure, page: 'alerts' };
}

function retention(facts: ServerFacts): Finding {
  const { logBytes, forgottenBytes, retentionMs, retentionFailedMs } = facts;
  const isOff = retentionMs === 0 || retentionFailedMs === 0;
  const isStuck = forgottenBytes > GIB && forgottenBytes > logBytes / 2;
  const size = `the log has ${sizeText(logBytes)}, ${sizeText(forgottenBytes)} of it forgotten`;
  const off = isOff ? '; retention is off (0): some tasks are remembered for ever' : '';
  const verdict = (isOff && logBytes > GIB) || isStuck ? 'look' : 'ok';
  return { check: 'retention', verdict, figure: size + off, page: 'retention' };
}
