// Fails every write, flush and last write of a commit in turn, in one life of the real executable
// under load: the first after some moment, the second, the third. Nothing acknowledged is lost and
// the server goes on by itself; but where no flush succeeds any more nobody can say what is on the
// device: then it stops, and a start reads what is there.

import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { mustBeCaught } from '../support/caught.ts';
import { Place, type Server } from '../support/server.ts';
import { inTurn, sized } from '../support/tier.ts';
import { until } from '../support/waiting.ts';
import { Device, type Fault } from './device.ts';
import { compare } from './history.ts';
import { need } from './machine.ts';
import { copyProgram, executableOf, type Patch } from './patched.ts';
import { ANSWERS_EARLY, BELIEVES_A_FAILED_APPEND } from './program-faults.ts';
import { roundsOf } from './rounds.ts';
import { type Asked, Traffic } from './traffic.ts';
import { holdsAll, nothingIn } from './verified.ts';

/** More calls than a commit makes, and those of the commits after it. */
const NTH_MAX = sized(10, 3);
/** Before each request of a client: what matters here are the calls, and not how many records. */
const PACE_MS = 5;
/** So long the device fails altogether, and then works again. */
const OUTAGE_MS = 300;
/** Which request is under way when a write fails is chance. */
const CONTROL_ROUNDS = 3;
const args = ['--lease-duration-ms', '300', '--segment-bytes', '1048576', '--log-level', 'warn'];

const FAULTS: readonly Omit<Fault, 'nth'>[] = inTurn(['data', 'flush', 'meta'] as const).flatMap(
  (call) => [
    { calls: [call], error: 'EIO' },
    { calls: [call], error: 'ENOSPC', partial: call === 'data' ? 40 : 0 },
    { calls: [call], stallMs: 50 },
  ],
);

const CONTROLS: Readonly<Record<string, readonly Patch[]>> = {
  'answers before the flush': ANSWERS_EARLY,
  'takes a failed append for a durable one': BELIEVES_A_FAILED_APPEND,
};

describe('a device of which every call fails once', () => {
  const rounds = roundsOf('every call', 1, 240_000);
  let place: Place;
  let device: Device;
  let traffic: Traffic;
  before(function () {
    need(this, 'linux', 'cc');
  });
  beforeEach(async () => {
    place = await Place.open();
    device = new Device(place.dataDir, place.dir);
  });
  afterEach(async () => {
    await place.close();
    await traffic.stop();
  });

  const serve = (executable?: string): Promise<Server> => {
    const copy = executable === undefined ? {} : { executable };
    return place.serve({ args, env: device.env, ...copy }).ready();
  };
  const load = (seed: number): Traffic => {
    const onCut = () => pause(10);
    traffic = new Traffic(place, { seed, clients: 6, onCut, pace: () => pause(PACE_MS) });
    return traffic;
  };

  it(`loses nothing and goes on, the first ${NTH_MAX} calls of each kind`, async () => {
    // All rounds are played on one log, so what they asked for is one history too.
    let history: readonly Asked[] = [];
    await rounds.run(async (seed) => {
      let server = await serve();
      load(seed);
      for (const fault of FAULTS) {
        for (let nth = 1; nth <= NTH_MAX; nth += 1) {
          await breakOnce(server, device, { ...fault, nth });
        }
        if (fault.error === undefined) continue;
        device.breaks({ ...fault, nth: 1, repeat: 1_000_000 });
        await until('the device fails', () => device.counted.hits > 0);
        if (fault.calls[0] === 'flush') {
          expect((await server.ended).code, server.out).to.equal(1);
          expect(server.err).to.match(/^leasehold: .*cannot flush .*data\.mdb/m);
          device.mend();
          server = await serve();
        } else {
          await outage(server, device);
        }
      }
      await traffic.stop();
      history = history.concat(traffic.history);
      expect(await server.stop()).to.deep.equal({ code: 0, signal: null });
      expect((await holdsAll(place, history)).length).to.be.greaterThan(
        5 * FAULTS.length * NTH_MAX,
      );
    });
  }).timeout(rounds.timeoutMs);

  for (const [name, patches] of inTurn(Object.entries(CONTROLS))) {
    it(`control: a program that ${name} is caught`, async () => {
      const executable = executableOf(copyProgram(path.join(place.dir, 'program'), patches));
      let history: readonly Asked[] = [];
      await mustBeCaught(/record \d+/, CONTROL_ROUNDS, async (seed) => {
        const server = await serve(executable);
        load(seed);
        for (let nth = 1; nth <= NTH_MAX && server.over === undefined; nth += 1) {
          device.breaks({ calls: ['data'], error: 'EIO', nth });
          await until('it is hit', () => device.counted.hits > 0 || server.over !== undefined);
          await pause(30);
        }
        await server.destroy();
        await traffic.stop();
        device.mend();
        history = history.concat(traffic.history);
        const again = await place.serve().ready();
        const log = await again.records();
        await again.stop();
        nothingIn(compare(history, log));
      });
    }).timeout(300_000);
  }
});

async function breakOnce(server: Server, device: Device, fault: Fault): Promise<void> {
  const what = JSON.stringify(fault);
  device.breaks(fault);
  await until(`${what} is hit`, () => device.counted.hits > 0 || server.over !== undefined);
  device.mend();
  expect(await server.goesOn(90_000), `${what}: ${server.err.slice(-1_000)}`).to.equal(true);
}

/** Nothing can be written for a while: reads and health go on, then writes do again. */
async function outage(server: Server, device: Device): Promise<void> {
  await server.reaches(503);
  await pause(OUTAGE_MS);
  expect(await server.status('/livez')).to.equal(200);
  expect(await server.status('/v1/stats')).to.equal(200);
  device.mend();
  await server.reaches(200);
}
