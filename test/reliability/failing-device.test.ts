// The device under a serving coordinator fails or stalls at its so many-th write, flush or last
// write of a commit: nothing acknowledged is missing, nothing refused is there, and it goes on by
// itself, or ends in words within 30 s and starts again.

import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { Random } from '../simulator/random.ts';
import { Place, type Server } from '../support/server.ts';
import { inTurn } from '../support/tier.ts';
import { Device, type Fault } from './device.ts';
import { need } from './machine.ts';
import { copyProgram, executableOf } from './patched.ts';
import { IMPATIENT } from './program-faults.ts';
import { roundsOf } from './rounds.ts';
import { type Asked, Traffic } from './traffic.ts';
import { holdsAll } from './verified.ts';

const HANGING = { code: null, signal: 'SIGKILL' };
const RECOVERS_MS = 30_000;
const FOREVER_MS = 60_000;
const MORE_MAX = 10;
const FAULTS: readonly [Omit<Fault, 'nth'>, ...Omit<Fault, 'nth'>[]] = [
  { calls: ['data'], error: 'EIO' },
  { calls: ['data'], error: 'ENOSPC', partial: 50 },
  { calls: ['flush'], error: 'EIO' },
  { calls: ['flush'], error: 'ENOSPC', repeat: 3 },
  { calls: ['meta'], error: 'EIO' },
  { calls: ['meta'], error: 'ENOSPC', repeat: 1 },
  { calls: ['data', 'flush', 'meta'], error: 'EIO', repeat: 20 },
  { calls: ['flush'], stallMs: 300 },
  { calls: ['meta'], stallMs: 300 },
];

const PLAYED = inTurn(FAULTS, 2);
const STALLS = inTurn(['in a commit', 'at a rollover', 'when a log begins']);

/** Beginnings of the names below log/. */
const AT_A_ROLLOVER = {
  'the making of the next segment': 'tmp-',
  'the first record of the next segment': '00000002-',
} as const;

describe('a device that fails under a serving coordinator', () => {
  const rounds = roundsOf('failing device', 1, 120_000);
  let place: Place;
  let device: Device;
  let server: Server;
  let history: Asked[];
  before(function () {
    need(this, 'linux', 'cc');
  });
  beforeEach(async () => {
    place = await Place.open();
    device = new Device(place.dataDir, place.dir);
    history = [];
  });
  afterEach(() => place.close());

  const serve = async (executable?: string): Promise<Server> => {
    const knobs = ['--lease-duration-ms', '1000', '--segment-bytes', '1048576'];
    const args = ['--log-level', 'warn', ...knobs];
    const more = executable === undefined ? {} : { executable };
    server = place.serve({ args, env: device.env, ...more });
    return server.ready();
  };

  /** Breaks the device in the middle of a load, and waits until the server serves again. */
  async function breaks(
    fault: Fault,
    seed: number,
    executable?: string,
    payload = 'p',
  ): Promise<string> {
    const onCut = () => pause(10);
    const pace = () => pause(2);
    const traffic = new Traffic(place, { seed, clients: 4, onCut, pace, payload: () => payload });
    await pause(40);
    device.breaks(fault);
    const end = performance.now() + RECOVERS_MS;
    while (device.counted.hits === 0 && performance.now() < end) await pause(5);
    expect(device.counted.hits, 'the fault struck').to.be.greaterThan(0);
    if (fault.stallMs === undefined) await pause(30);
    device.mend();
    // What cannot be over while it stalls may still be answered for a moment: the load goes on.
    if (fault.stallMs === FOREVER_MS)
      await Promise.race([server.ended, pause(RECOVERS_MS, undefined, { ref: false })]);
    const how = (await server.goesOn(RECOVERS_MS)) ? 'went on' : 'ended';
    if (how === 'ended') {
      expect(server.over, 'it ended by itself').to.not.equal(undefined);
      // Where a write hangs for ever there is no other end: its thread cannot be joined.
      const ends = fault.stallMs === undefined ? { code: 1, signal: null } : HANGING;
      expect(server.over, server.err).to.deep.equal(ends);
      expect(server.err, 'it says why').to.not.equal('');
      await serve(executable);
    }
    await pause(40);
    await traffic.stop();
    history = history.concat(traffic.history);
    return how;
  }

  it(`loses nothing and invents nothing, ${PLAYED.length} ways`, async () => {
    await rounds.run(async (seed) => {
      const random = new Random(seed, 'faults');
      await serve();
      const struck = (fault: Omit<Fault, 'nth'>) =>
        breaks({ ...fault, nth: random.between(1, 10) }, seed);
      const wereTold = () => history.some(({ answer }) => answer?.['reason'] === 'log_unavailable');
      for (const fault of PLAYED) await struck(fault);
      // Nobody is told where a stall is over in time, or where the group that failed held nothing
      // but expiries.
      for (let more = 0; !wereTold() && more < MORE_MAX; more += 1) await struck(FAULTS[0]);
      await server.stop();
      expect(wereTold(), 'some were told').to.equal(true);
      await holdsAll(place, history);
    });
  }).timeout(rounds.timeoutMs);

  const impatient = (): string =>
    executableOf(copyProgram(path.join(place.dir, 'program'), IMPATIENT));

  if (STALLS.includes('in a commit')) {
    it('stalls for longer than a commit may: believes what became of it, or ends', async () => {
      const copy = impatient();
      // On a busy machine its own start may take as long.
      device.breaks({ calls: ['flush'], nth: 1, stallMs: 800 });
      await serve(copy);
      expect(device.counted.hits, 'the start was slow').to.equal(1);
      const long: Fault = { calls: ['flush'], nth: 3, stallMs: 800 };
      expect(await breaks(long, 1, copy)).to.equal('went on');
      const forever: Fault = { calls: ['flush'], nth: 3, stallMs: FOREVER_MS };
      expect(await breaks(forever, 2, copy)).to.equal('ended');
      await server.stop();
      await holdsAll(place, history);
    }).timeout(180_000);
  }

  const rollovers = STALLS.includes('at a rollover') ? Object.entries(AT_A_ROLLOVER) : [];
  for (const [what, name] of inTurn(rollovers)) {
    it(`stalls at ${what}: believes what became of it, or ends`, async () => {
      const copy = impatient();
      device = new Device(path.join(place.dataDir, 'log', name), place.dir);
      await serve(copy);
      const payload = 'p'.repeat(20_000);
      const long: Fault = { calls: ['flush'], nth: 1, stallMs: 2_500 };
      expect(await breaks(long, 1, copy, payload)).to.equal('went on');
      const forever: Fault = { calls: ['flush'], nth: 1, stallMs: FOREVER_MS };
      expect(await breaks(forever, 2, copy, payload)).to.equal('ended');
      await server.stop();
      await holdsAll(place, history);
    }).timeout(180_000);
  }

  if (STALLS.includes('when a log begins')) {
    it('hangs when a log begins: the server ends in words', async () => {
      device.breaks({ calls: ['flush'], nth: 1, stallMs: FOREVER_MS });
      await serve(impatient()).catch(() => {});
      expect(server.over, server.err).to.deep.equal(HANGING);
      expect(server.err).to.match(/the device does not answer/);
    }).timeout(180_000);
  }
});
