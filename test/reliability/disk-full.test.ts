// A disk that is full under a serving coordinator, and at its start: reads and health answer in the
// meantime, changes are refused with the time after which to try again, and everything goes on by
// itself when there is space. On a real file system that is full small records may fit still, since
// the log uses its own freed pages again; where nothing fits any more is played by a device.

import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { HttpLink } from '../support/links.ts';
import { type Fields, Place, type Server } from '../support/server.ts';
import { isPlayed } from '../support/tier.ts';
import { Device, type Fault } from './device.ts';
import { need } from './machine.ts';
import { roundsOf } from './rounds.ts';
import { SmallDisk } from './small-disk.ts';
import { type Asked, Traffic } from './traffic.ts';
import { holdsAll } from './verified.ts';

const READ_MAX_MS = 20_000;
const PARTS = ['under a load', 'at the first start', 'nothing fits'];
const LARGE = 'x'.repeat(300_000);

const isRefused = ({ answer }: Asked): boolean => answer?.['reason'] === 'log_unavailable';

const isAccepted = ({ op, answer }: Asked): boolean =>
  op === 'submit' && typeof answer?.['record'] === 'number';

/** The first task that was. */
const acknowledged = ({ history }: Traffic): Fields | undefined => history.find(isAccepted)?.answer;

/** @param breaks called when something was acknowledged. */
async function loadUntilRefused(
  place: Place,
  seed: number,
  breaks: () => void = () => {},
): Promise<Traffic> {
  const payload = (random: { between(a: number, b: number): number }): string =>
    'x'.repeat(random.between(1, 60_000));
  const options = { payload, onCut: () => pause(20), pace: () => pause(1) };
  const traffic = new Traffic(place, { seed, clients: 4, ...options });
  const end = performance.now() + 90_000;
  while (acknowledged(traffic) === undefined) await pause(5);
  breaks();
  while (!traffic.history.some(isRefused)) {
    expect(performance.now(), 'the disk is full').to.be.lessThan(end);
    await pause(5);
  }
  return traffic;
}

/** @param ready what /readyz may say. */
async function readsAndRefuses(
  place: Place,
  server: Server,
  known: Fields | undefined,
  ready: readonly number[],
): Promise<void> {
  const link = new HttpLink(place.httpPort);
  for (const end = performance.now() + 500; performance.now() < end; await pause(20)) {
    const began = performance.now();
    const refused = await link.call('submit', { payload: LARGE });
    expect(refused).to.include({ outcome: 'UNAVAILABLE', http_status: 503 });
    expect(refused).to.include({ reason: 'log_unavailable' });
    expect(refused['retry_after']).to.be.greaterThan(0);
    const task = await link.call('task', { task_id: known?.['task_id'] });
    // What was decided together with what was lost is refused, reads too; it must not be wrong.
    if (task['http_status'] === 503) expect(task).to.include({ reason: 'log_unavailable' });
    else expect(task).to.include({ http_status: 200, task_id: known?.['task_id'] });
    for (const route of ['/livez', '/metrics', '/v1/log?from=1&limit=3', '/v1/config']) {
      expect(await server.status(route), route).to.equal(200);
    }
    expect(ready).to.include(await server.status('/readyz'));
    expect(performance.now() - began, 'in time').to.be.lessThan(READ_MAX_MS);
  }
  link.close();
}

/** A start answers 503 while it looks at the log as well: wait until it has. */
async function untilRead(server: Server): Promise<void> {
  const end = performance.now() + 90_000;
  while ((await server.status('/v1/stats')) !== 200) {
    expect(performance.now(), 'reads are served').to.be.lessThan(end);
    expect(server.over, server.err).to.equal(undefined);
    await pause(20);
  }
}

describe('a full disk', () => {
  const rounds = roundsOf('disk full', 1, 60_000);
  before(function () {
    need(this, 'linux', 'root', 'mount');
  });
  const serve = (place: Place): Server => place.serve({ args: ['--log-level', 'warn'] });

  if (isPlayed('under a load', PARTS)) {
    it('under a load: reads go on, and everything when there is space', async () => {
      await rounds.run((seed) =>
        SmallDisk.with(async (place, disk) => {
          const server = await serve(place).ready();
          const traffic = await loadUntilRefused(place, seed);
          disk.fillUp();
          await readsAndRefuses(place, server, acknowledged(traffic), [200, 503]);
          disk.free();
          expect(await server.goesOn(60_000), 'it goes on').to.equal(true);
          await pause(50);
          await traffic.stop();
          expect(server.over, 'it was never away').to.equal(undefined);
          await server.stop();
          const log = await holdsAll(place, traffic.history);
          const starts = log.filter(({ type }) => type === 'CoordinatorStarted');
          expect(starts.length, 'a new epoch after the failure').to.be.greaterThan(1);
        }),
      );
    }).timeout(rounds.timeoutMs);
  }

  if (isPlayed('at the first start', PARTS)) {
    it('at the first start: refused in words, and nothing is left behind', async () => {
      await SmallDisk.with(async (place, disk) => {
        disk.fillUp();
        const server = serve(place);
        expect(await server.ended).to.deep.equal({ code: 1, signal: null });
        expect(server.err)
          .to.match(/full|space|ENOSPC/i)
          .and.include('leasehold:');
        disk.free();
        await (await serve(place).ready()).stop();
        expect((await holdsAll(place, [])).length).to.equal(1);
      });
    }).timeout(180_000);
  }
});

describe('a disk on which nothing fits', () => {
  const FULL: Fault = { calls: ['data'], nth: 1, repeat: 1_000_000_000, error: 'ENOSPC' };
  let place: Place;
  let device: Device;
  before(function () {
    need(this, 'linux', 'cc');
  });
  beforeEach(async () => {
    place = await Place.open();
    device = new Device(place.dataDir, place.dir);
  });
  afterEach(() => place.close());
  const serve = (): Server => place.serve({ args: ['--log-level', 'warn'], env: device.env });

  if (isPlayed('nothing fits', PARTS)) {
    it('is not ready but reads, under a load and at a start', async () => {
      const first = await serve().ready();
      const traffic = await loadUntilRefused(place, 1, () => device.breaks(FULL));
      await readsAndRefuses(place, first, acknowledged(traffic), [503]);
      first.kill('SIGKILL');
      await first.ended;
      const server = serve();
      await untilRead(server);
      await readsAndRefuses(place, server, acknowledged(traffic), [503]);
      device.mend();
      await server.ready();
      expect(await server.goesOn(60_000)).to.equal(true);
      await traffic.stop();
      expect(server.over).to.equal(undefined);
      await server.stop();
      await holdsAll(place, traffic.history);
    }).timeout(180_000);
  }
});
