// Somebody sets the clock, by an hour or a day, forward or back, while the real executable works
// and while it is down. Its own time never goes back; no lease that ended comes back; none is over
// early or outlives its duration by what the workers' monotonic clocks say, beside the time in
// which the coordinator was down. Programs that believe the wall clock must be caught.

import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { Random } from '../simulator/random.ts';
import { mustBeCaught } from '../support/caught.ts';
import { HttpLink, SocketLink } from '../support/links.ts';
import { type Fields, inPlace, type Place, type Server } from '../support/server.ts';
import { inTurn, sized } from '../support/tier.ts';
import { until } from '../support/waiting.ts';
import { audit } from './audit.ts';
import { Holding } from './holding.ts';
import { need } from './machine.ts';
import { MovedClock } from './moved-clock.ts';
import { copyProgram, executableOf, type Patch } from './patched.ts';
import {
  BEGINS_WITH_THE_END_OF_THE_LOG,
  BEGINS_WITH_THE_WALL_CLOCK,
  BELIEVES_THE_WALL_CLOCK,
} from './program-faults.ts';
import { roundsOf } from './rounds.ts';
import { together } from './together.ts';
import { type Asked, Traffic } from './traffic.ts';
import { holdsAll, verify } from './verified.ts';

/** Steps of the clock in one round; `soak -- clock` plays 50 of these. */
const STEPS = sized(10, 2);
const CONTROL_STEPS = 4;
const DURATION_MS = 600;
const HEARTBEAT_MS = 100;
/** A tick, a flush, and what a busy machine takes for both. */
const SLACK_MS = 8_000;
/** Within one turn of the coordinator. */
const TURN_MS = 2_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const YEARS_AHEAD = inTurn(['at a start', 'when a log begins']);
const YEAR_MS = 365 * DAY_MS;
const BY_MS = [HOUR_MS, -HOUR_MS, DAY_MS, -DAY_MS];
const ARGS = [
  '--lease-duration-ms',
  `${DURATION_MS}`,
  '--retention-ms',
  '0',
  '--log-level',
  'warn',
];

const CONTROLS: Readonly<Record<string, readonly Patch[]>> = {
  'follows the wall clock': BELIEVES_THE_WALL_CLOCK,
  'begins with the wall clock': BEGINS_WITH_THE_WALL_CLOCK,
  'begins with the end of the log': BEGINS_WITH_THE_END_OF_THE_LOG,
};

/** Says that time went wrong; another failure is one of the stage. */
const ABOUT_TIME = /early|late|is over|as if nothing|later of both|came back/;

class Stage {
  readonly history: Asked[] = [];
  readonly #place: Place;
  readonly #clock: MovedClock;
  readonly #executable: string | undefined;
  readonly #dice: Random;
  #server: Server | undefined;
  #steps = 0;

  constructor(place: Place, seed: number, faults: readonly Patch[]) {
    this.#place = place;
    this.#clock = new MovedClock(place.dir);
    this.#dice = new Random(seed, 'clock');
    const copy = path.join(place.dir, 'program');
    this.#executable = faults.length === 0 ? undefined : executableOf(copyProgram(copy, faults));
  }

  get server(): Server {
    return this.#server as Server;
  }

  async serve(): Promise<void> {
    const more = this.#executable === undefined ? {} : { executable: this.#executable };
    this.#server = this.#place.serve({ args: ARGS, env: this.#clock.env, ...more });
    await this.#server.ready();
  }

  /** Sets the clock once, under one lease that is renewed and one that is left alone. */
  async step(): Promise<void> {
    this.#steps += 1;
    const { httpPort, socketPort } = this.#place;
    const links = [new HttpLink(httpPort), new SocketLink(socketPort)] as const;
    const queue = `step-${this.#steps}`;
    const left = await Holding.take(links[0], this.history, `${queue}-left`);
    const renewed = await Holding.take(links[1], this.history, `${queue}-renewed`);
    await pause(this.#dice.below(DURATION_MS / 4));
    const byMs = this.#dice.pick(BY_MS);
    if (this.#dice.chance(0.5)) await this.#whileServing(left, renewed, byMs);
    else await this.#whileDown(left, renewed, byMs);
    for (const link of links) link.close();
  }

  async #whileServing(left: Holding, renewed: Holding, byMs: number): Promise<void> {
    const before = await this.#offsetMs();
    this.#clock.move(byMs);
    const stepped = (await this.#offsetMs()) - before;
    expect(stepped, 'the coordinator goes on as if nothing were').to.be.closeTo(-byMs, SLACK_MS);
    let over = false;
    const renewing = this.#renew(renewed, () => over);
    await until('the lease is over', () => left.isOver(this.server), DURATION_MS + SLACK_MS);
    expect(left.sinceAskedMs, 'a lease was over early').to.be.at.least(DURATION_MS - 1);
    expect(left.sinceToldMs, 'a lease was over late').to.be.below(DURATION_MS + SLACK_MS);
    await left.staysOver();
    over = true;
    await renewing;
  }

  /** A lease that is renewed in time by the worker's own clock is never lost to a step. */
  async #renew(renewed: Holding, isOver: () => boolean): Promise<void> {
    for (let isHeld = true; isHeld; await pause(HEARTBEAT_MS)) {
      if (isOver()) {
        const outcome = await renewed.complete();
        const inTime = renewed.sinceAskedMs < DURATION_MS;
        if (inTime) expect(outcome, 'a lease was over early').to.equal('COMMITTED');
        return;
      }
      const { sinceAskedMs } = renewed;
      const outcome = await renewed.heartbeat();
      isHeld = outcome === 'OK';
      // When this machine was too slow for us, nothing follows.
      if (!isHeld && renewed.sinceAskedMs < DURATION_MS) {
        expect.fail(`a lease was over early: ${outcome} after ${sinceAskedMs} ms`);
      }
    }
  }

  async #whileDown(left: Holding, renewed: Holding, byMs: number): Promise<void> {
    const last = (await this.server.records()).at(-1) as Fields;
    const began = performance.now();
    this.server.kill(this.#dice.pick(['SIGKILL', 'SIGTERM']));
    await this.server.ended;
    this.#clock.move(byMs);
    const { aheadMs } = this.#clock;
    await this.serve();
    const downMs = performance.now() - began;
    const log = await this.server.records(Number(last['seq']) + 1);
    const started = log.find(({ type }) => type === 'CoordinatorStarted') as Fields;
    const wall = Date.now() + aheadMs;
    expect(started['started_at'], 'the clock is set').to.be.closeTo(wall, downMs + SLACK_MS);
    const expected = Math.max(started['started_at'] as number, last['at'] as number);
    // The wall clock is looked at once more for the record, a moment after the time began.
    const earliest = Math.max(expected - TURN_MS, last['at'] as number);
    expect(started['at'], 'the later of both').to.be.within(earliest, expected + downMs);
    const lateMs = Math.ceil(DURATION_MS + downMs + SLACK_MS);
    for (const lease of [left, renewed]) {
      await until('the lease is over', () => lease.isOver(this.server), lateMs);
      expect(lease.sinceToldMs, 'a lease was over late').to.be.below(lateMs);
      await lease.staysOver();
    }
  }

  /** Coordinator time minus wall clock. */
  async #offsetMs(): Promise<number> {
    const text = await (await fetch(`${this.server.url}/metrics`)).text();
    const [, seconds] = /^leasehold_clock_offset_seconds (\S+)$/m.exec(text) as RegExpExecArray;
    return Number(seconds) * 1_000;
  }
}

/** Leases that the coordinator's own time says are over, and that nobody ended. */
function outlived(log: readonly Fields[]): string[] {
  const expiries = new Map<unknown, number>();
  const wrong: string[] = [];
  for (const { seq, type, at, task_id: id, ...line } of log) {
    if (type === 'LeaseGranted') expiries.set(id, line['lease_expiry'] as number);
    else if (type === 'LeaseExtended') expiries.set(id, line['new_lease_expiry'] as number);
    else if (type !== 'TaskCancelled') expiries.delete(id); // That is of an earlier lease.
    // At a start all that is overdue ends, before anything else happens.
    if (type === 'LeaseExpired' || type === 'CoordinatorStarted') continue;
    for (const [task, expiry] of expiries) {
      const lateMs = (at as number) - expiry;
      if (lateMs <= SLACK_MS) continue;
      wrong.push(`record ${seq}: the lease of ${task} was over ${lateMs} ms before`);
      expiries.delete(task);
    }
  }
  return wrong;
}

async function steps(seed: number, count: number, faults: readonly Patch[] = []): Promise<void> {
  await inPlace(async (place) => {
    const stage = new Stage(place, seed, faults);
    await stage.serve();
    const load = { seed, clients: 2, onCut: () => pause(20), pace: () => pause(5) };
    const traffic = new Traffic(place, load);
    try {
      for (let step = 0; step < count; step += 1) await stage.step();
    } finally {
      await traffic.stop();
    }
    await stage.server.stop();
    const log = await holdsAll(place, [...traffic.history, ...stage.history]);
    expect(outlived(log)).to.deep.equal([]);
  });
}

/** A lease ends when it should, and the log is sound. */
async function lasts(place: Place, server: Server): Promise<void> {
  const link = new HttpLink(place.httpPort);
  const history: Asked[] = [];
  const lease = await Holding.take(link, history, 'q');
  await until('the lease is over', () => lease.isOver(server), DURATION_MS + SLACK_MS);
  expect(lease.sinceAskedMs, 'a lease was over early').to.be.at.least(DURATION_MS - 1);
  await lease.staysOver();
  link.close();
  await server.stop();
  expect(outlived(await holdsAll(place, history))).to.deep.equal([]);
}

describe('a clock that is set under the server', () => {
  const rounds = roundsOf('clock', 1, 120_000);
  before(function () {
    need(this, 'linux', 'cc');
  });

  it(`${STEPS} times: no time goes back, no lease does, none is early or late`, async () => {
    await rounds.run((seed) => steps(seed, STEPS));
  }).timeout(rounds.timeoutMs);

  const controlNames = inTurn(Object.keys(CONTROLS));
  const controls = together(controlNames, async (name) => {
    await mustBeCaught(ABOUT_TIME, 5, (seed) => steps(seed, CONTROL_STEPS, CONTROLS[name]));
  });
  for (const name of controlNames) {
    it(`control: a program that ${name} is caught`, () => controls(name)).timeout(300_000);
  }

  if (YEARS_AHEAD.includes('at a start')) {
    it('70 years ahead at one start: refused in words, harmless once it was accepted', async () => {
      await inPlace(async (place) => {
        const clock = new MovedClock(place.dir);
        const serve = (...more: string[]): Server =>
          place.serve({ args: [...ARGS, ...more], env: clock.env });
        await (await serve().ready()).stop();
        clock.move(70 * YEAR_MS);
        const refused = serve();
        expect(await refused.ended).to.deep.equal({ code: 1, signal: null });
        expect(refused.err).to.match(/^leasehold: .*the clock says 2[01]\d\d-.*--accept-clock/m);
        expect((await verify(place.dataDir)).records, 'nothing was written').to.equal(1);
        await (await serve('--accept-clock').ready()).stop();
        clock.move(-70 * YEAR_MS);
        await lasts(place, await serve().ready());
      });
    }).timeout(180_000);
  }

  if (YEARS_AHEAD.includes('when a log begins')) {
    it('70 years ahead when a log begins: its leases last as long as ever', async () => {
      await inPlace(async (place) => {
        const clock = new MovedClock(place.dir);
        clock.move(70 * YEAR_MS);
        await (await place.serve({ args: ARGS, env: clock.env }).ready()).stop();
        clock.move(-70 * YEAR_MS);
        await lasts(place, await place.serve({ args: ARGS, env: clock.env }).ready());
      });
    }).timeout(180_000);
  }

  it('control: a log in which a time or a lease goes back, or a lease stays, is caught', () => {
    const task = { task_id: 'T2', lease_id: 'L3' };
    const expiry = { lease_expiry: 600, granted_at: 0, attempt: 1 };
    const log = (at: number, line: Fields): Fields[] => [
      { seq: 1, type: 'CoordinatorStarted', at: 0, prev: 0 },
      { seq: 2, type: 'TaskCreated', at: 0, prev: 0, task_id: 'T2', execution_window_ms: 9_999 },
      { seq: 3, type: 'LeaseGranted', at: 0, prev: 2, ...task, ...expiry },
      { seq: 4, type: 'LeaseExtended', at: 500, prev: 3, ...task, new_lease_expiry: 1_100 },
      { seq: 5, at, ...line },
    ];
    const extended = { type: 'LeaseExtended', prev: 4, ...task, new_lease_expiry: 2_000 };
    const created = { type: 'TaskCreated', prev: 0, task_id: 'T5', execution_window_ms: 9_999 };
    expect(audit(log(1_000, extended))).to.deep.equal([]);
    expect(audit(log(1_100, extended)).join()).to.include('a lease came back');
    expect(audit(log(499, created)).join()).to.include('time goes back');
    expect(outlived(log(1_100 + SLACK_MS, created))).to.deep.equal([]);
    expect(outlived(log(1_101 + SLACK_MS, created))).to.have.length(1);
  });
});
