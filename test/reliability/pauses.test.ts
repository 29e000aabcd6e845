// Workers and the coordinator stand still until the leases that they hold are over, and go on as
// if nothing had been: a report that comes too late is CANCELLED, whoever overslept; of two owners
// the one with the larger fencing token wins; and nothing is COMMITTED twice.

import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { Random } from '../simulator/random.ts';
import { mustBeCaught } from '../support/caught.ts';
import { type Fields, inPlace, type Server } from '../support/server.ts';
import { inTurn, sized } from '../support/tier.ts';
import { need } from './machine.ts';
import { copyProgram, executableOf, type Patch } from './patched.ts';
import { Crew, type Still, standsStill } from './paused-crew.ts';
import {
  LETS_NO_LEASE_END,
  LOOKS_AT_NO_TIME_BEFORE_A_REQUEST,
  TAKES_A_REPORT_FOR_WHOEVER_HOLDS,
} from './program-faults.ts';
import { roundsOf } from './rounds.ts';
import { together } from './together.ts';
import type { Asked } from './traffic.ts';
import { holdsAll } from './verified.ts';

/** Pauses of one round; `soak -- pauses` plays 40 of these. */
const PAUSES = sized(5, 4);
const CONTROL_PAUSES = 1;
const TRIES = 5;
const WORKERS = 4;
const DURATION_MS = 500;
const TICK_MS = 50;
/** Longer than a control takes: a report that waited comes first when the coordinator wakes. */
const SELDOM_MS = 60_000;
const JUDGED = /was due|COMMITTED for|won over/;
const BEYOND_MS = 300;
/** Coordinator time is in whole milliseconds. */
const ROUNDING_MS = 2;
const TAKEN_OVER_MS = 8_000;
/** An overtaken worker goes on at the very moment in which another one has its task. */
const WHO = ['worker', 'coordinator', 'overtaken worker', 'both'] as const;
type Who = (typeof WHO)[number];

const CONTROLS: Readonly<Record<string, readonly [Who, readonly Patch[]]>> = {
  'lets no lease end': ['worker', LETS_NO_LEASE_END],
  'takes what it finds when it wakes before it looks at the time': [
    'coordinator',
    LOOKS_AT_NO_TIME_BEFORE_A_REQUEST,
  ],
  'takes a report for whoever holds the task': [
    'overtaken worker',
    TAKES_A_REPORT_FOR_WHOEVER_HOLDS,
  ],
};

const pausesOf = (seed: number): readonly Who[] =>
  Array.from({ length: PAUSES }, (_, i) => WHO[(seed + i) % WHO.length] as Who);

interface Course {
  readonly seed: number;
  readonly pauses: readonly Who[];
  readonly faults?: readonly Patch[];
  readonly tickMs?: number;
}

/** @returns how many tasks would have left a wrong result in a resource that does not fence. */
async function course({ seed, pauses, faults = [], tickMs = TICK_MS }: Course): Promise<number> {
  let broken = 0;
  await inPlace(async (place) => {
    const copy = path.join(place.dir, 'program');
    const executable = executableOf(copyProgram(copy, faults));
    const knobs = { 'lease-duration-ms': DURATION_MS, 'tick-ms': tickMs, 'poison-threshold': 0 };
    const args = Object.entries(knobs).map(([name, value]) => `--${name}=${value}`);
    const server = await place.serve({ executable, args }).ready();
    const crew = new Crew(place, WORKERS);
    const stills: Still[] = [];
    try {
      const dice = new Random(seed, 'pauses');
      for (const who of pauses) {
        const forMs = DURATION_MS + BEYOND_MS + dice.below(BEYOND_MS);
        await oversleeps(server, crew, who, forMs, stills);
      }
      await crew.leave();
    } finally {
      crew.close();
    }
    expect(await server.stop(), server.err).to.deep.equal({ code: 0, signal: null });
    const wrong = misjudged(crew, stills);
    expect(wrong, wrong.slice(0, 3).join('\n')).to.deep.equal([]);
    await holdsAll(place, crew.history);
    broken = [...crew.fenced].filter(([task, token]) => crew.unfenced.get(task) !== token).length;
  });
  return broken;
}

/**
 * Stops them while a lease is held; again, when this machine was so slow that the report had left
 * before. That is known when the report is answered.
 */
async function oversleeps(
  server: Server,
  crew: Crew,
  who: Who,
  forMs: number,
  stills: Still[],
): Promise<void> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const { pid, held } = await crew.nextLease();
    const stopped: Promise<Still>[] = [];
    const beyond = (): Promise<unknown> => pause(forMs);
    // A program that lets it keep its lease is to be found out by its report, not by a time-out.
    const orLate = (what: Promise<unknown>): Promise<unknown> =>
      Promise.race([what, pause(TAKEN_OVER_MS, undefined, { ref: false })]);
    const overtaken = (): Promise<unknown> => orLate(crew.takenOver(held));
    const isServed = who === 'worker' || who === 'overtaken worker';
    const replaced = (): Promise<unknown> => orLate(crew.done(held.taskId));
    if (who === 'overtaken worker') stopped.push(standsStill(pid, overtaken));
    else if (who === 'worker') stopped.push(standsStill(pid, replaced));
    else if (who === 'both') stopped.push(standsStill(pid, beyond));
    if (!isServed) stopped.push(standsStill(server.pid as number, beyond));
    const all = await Promise.all(stopped);
    if (!isServed) stills.push(all.at(-1) as Still);
    const from = Math.min(...all.map((still) => still.from));
    await orLate(crew.reported(held));
    const report = crew.reports.get(`L${held.token}`);
    if (report === undefined || report.called > from) return;
  }
  throw new Error(`no lease was held at any of ${TRIES} pauses`);
}

/** @returns a sentence for all that was answered otherwise than the shared clock tells. */
function misjudged(crew: Crew, stills: readonly Still[]): string[] {
  const wrong: string[] = [];
  const committed = new Map<string, number[]>();
  const greatest = new Map<string, number>();
  for (const { op, answer, called, returned } of crew.history) {
    const [lease] = (op === 'lease' ? (answer?.['leases'] ?? []) : []) as Fields[];
    if (lease === undefined) continue;
    const { lease_id: leaseId, task_id } = lease;
    const [taskId, token] = [String(task_id), Number(String(leaseId).slice(1))];
    greatest.set(taskId, Math.max(token, greatest.get(taskId) ?? 0));
    const report = crew.reports.get(leaseId);
    const outcome = report?.answer?.['outcome'];
    if (outcome === 'COMMITTED') committed.set(taskId, [...(committed.get(taskId) ?? []), token]);
    const must = outcomeOf({ called, returned: returned as number }, report, stills);
    if (must === undefined || outcome === must) continue;
    wrong.push(`${leaseId} of ${taskId}: ${must} was due, not ${JSON.stringify(report?.answer)}`);
  }
  for (const [taskId, token] of greatest) {
    const tokens = committed.get(taskId) ?? [];
    if (tokens.length !== 1) wrong.push(`${taskId}: COMMITTED for ${tokens.join(' and ')}`);
    if (tokens[0] !== token) wrong.push(`${taskId}: ${tokens[0]} won over ${token}`);
    const written = crew.fenced.get(taskId);
    if (written !== token) wrong.push(`${taskId}: the resource has ${written}, not ${token}`);
  }
  return wrong;
}

/** @returns what the answer to a report must have been, or undefined when both were possible. */
function outcomeOf(
  lease: { called: number; returned: number },
  report: Asked | undefined,
  stills: readonly Still[],
): string | undefined {
  if (report?.returned === undefined) return 'an answer';
  const { called, returned } = report;
  if (called - lease.returned >= DURATION_MS) return 'CANCELLED';
  // The coordinator cannot have decided before it went on, and the lease was over by then.
  const slept = ({ from, to }: Still): boolean =>
    lease.returned < from && called > from && called < to;
  if (stills.some(slept)) return 'CANCELLED';
  return returned - lease.called < DURATION_MS - ROUNDING_MS ? 'COMMITTED' : undefined;
}

describe('workers and the coordinator stand still beyond a lease', () => {
  const rounds = roundsOf('pauses', 1, 60_000);
  before(function () {
    need(this, 'linux');
  });

  it(`${PAUSES} times: what is late is CANCELLED, the larger token wins`, async () => {
    await rounds.run(async (seed) => {
      const broken = await course({ seed, pauses: pausesOf(seed) });
      expect(broken, 'without fencing').to.be.greaterThan(0);
    });
  }).timeout(rounds.timeoutMs);

  const controlNames = inTurn(Object.keys(CONTROLS));
  const controls = together(controlNames, async (name) => {
    const [who, faults] = CONTROLS[name] as readonly [Who, readonly Patch[]];
    const tickMs = who === 'coordinator' ? SELDOM_MS : TICK_MS;
    const pauses = Array(CONTROL_PAUSES).fill(who);
    await mustBeCaught(JUDGED, 5, (seed) => course({ seed, pauses, faults, tickMs }));
  });
  for (const name of controlNames) {
    it(`control: a program that ${name} is caught`, () => controls(name)).timeout(300_000);
  }
});
