// The disk is full when forgotten history is to be removed: the new generation of a segment does
// not fit, wherever in its making that shows. Nothing of the log is lost or left half, requests and
// reads go on, and the removal is done when there is space.

import fs from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { HttpLink } from '../support/links.ts';
import { type Fields, inPlace, Place, type Server } from '../support/server.ts';
import { inTurn, isPlayed } from '../support/tier.ts';
import { until } from '../support/waiting.ts';
import { Device, type Fault } from './device.ts';
import { need } from './machine.ts';
import { copyProgram, executableOf } from './patched.ts';
import { LEAVES_HALF_A_SEGMENT } from './program-faults.ts';
import { SmallDisk } from './small-disk.ts';
import { verify } from './verified.ts';

const PAYLOAD = 'p'.repeat(20_000);
/** Half of them are done: what stays fills most of a segment. */
const TASKS = 120;
const SEGMENT_BYTES = 1_048_576;
/** What the disk still takes: records go on to be written, a whole segment does not fit. */
const LEFT_BYTES = inTurn([80_000, 200_000, 400_000]);
const PARTS = ['until there is space', 'the server goes on', 'the device fails'];
const CONTROLS = ['leaves half a segment'];
const WITHIN_MS = 90_000;
const STOPPED = 'removing forgotten history stopped';
const REMOVED = 'forgotten history was removed from a segment';

/** Of the calls on a generation that is being made: there is no other write, and no other flush. */
const FAULTS: readonly Fault[] = [
  ...[1, 2, 3, 4].flatMap((nth): Fault[] => [
    { calls: ['data'], nth, error: 'EIO' },
    { calls: ['data'], nth, error: 'ENOSPC', partial: 40 },
  ]),
  ...[1, 2, 3].map((nth): Fault => ({ calls: ['flush'], nth, error: 'EIO' })),
];

const isFirst = (name: string): boolean => /^\d{8}-0$/.test(name);
const namesIn = ({ dataDir }: Place): string[] => fs.readdirSync(path.join(dataDir, 'log'));

async function serve(
  place: Place,
  retentionMs: number,
  more: { executable?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<Server> {
  const knobs = { 'retention-ms': retentionMs, 'segment-bytes': SEGMENT_BYTES };
  const args = Object.entries(knobs).map(([name, value]) => `--${name}=${value}`);
  return place.serve({ args, ...more }).ready();
}

interface Filled {
  readonly place: Place;
  readonly log: readonly Fields[];
}
let made: Promise<Filled> | undefined;
after(async () => (await made)?.place.close());

/**
 * Gives a place a log of some segments in which half of all is done and nothing is forgotten yet.
 * It is made once.
 */
async function filled({ dataDir }: Place): Promise<readonly Fields[]> {
  made ??= fill(await Place.open());
  const { place, log } = await made;
  fs.cpSync(place.dataDir, dataDir, { recursive: true });
  return log;
}

async function fill(place: Place): Promise<Filled> {
  const server = await serve(place, 0);
  const link = new HttpLink(place.httpPort);
  for (let i = 0; i < TASKS; i += 1) {
    const queue = i % 2 === 0 ? 'kept' : 'done';
    await link.call('submit', { payload: PAYLOAD, queue });
    if (queue === 'done') await finishOne(link);
  }
  link.close();
  const log = await server.records();
  await server.stop();
  return { place, log };
}

async function finishOne(link: HttpLink): Promise<void> {
  const { leases } = await link.call('lease', { worker_id: 'w', queues: ['done'] });
  const [{ task_id, lease_id }] = leases as [Fields];
  const { outcome } = await link.call('complete', { task_id, lease_id });
  expect(outcome).to.equal('COMMITTED');
}

/** What the log may have lost is only what was forgotten. */
function keepsAll(before: readonly Fields[], after: readonly Fields[]): void {
  const bySeq = new Map(after.map((line) => [line['seq'], line]));
  const done = new Set(
    before.filter(({ type }) => type === 'TaskCompleted').map(({ task_id }) => task_id),
  );
  for (const line of before) {
    const found = bySeq.get(line['seq']);
    if (found !== undefined || !done.has(line['task_id'])) expect(found).to.deep.equal(line);
  }
}

/** What stopped is done with the next forgetting; then the log is looked at. */
async function removesNext(place: Place, server: Server, before: readonly Fields[]): Promise<void> {
  const link = new HttpLink(place.httpPort);
  await link.call('submit', { payload: 'p', queue: 'done' });
  await finishOne(link);
  await until('it is removed', () => server.out.includes(REMOVED), WITHIN_MS);
  link.close();
  keepsAll(before, await server.records());
  expect(await server.stop()).to.deep.equal({ code: 0, signal: null });
  await verify(place.dataDir);
}

async function fullAtRemoval(
  place: Place,
  disk: SmallDisk,
  more: { executable?: string } = {},
): Promise<void> {
  const before = await filled(place);
  for (const leftBytes of LEFT_BYTES) {
    disk.fillUp(leftBytes);
    const names = namesIn(place);
    const server = await serve(place, 1, more);
    await until('the removal stops', () => server.out.includes(STOPPED), WITHIN_MS);
    expect(server.out)
      .to.match(/the device refused|disk is full|space|ENOSPC/i)
      .and.not.include(REMOVED);
    expect(namesIn(place), 'nothing half made').to.include.members(names);
    expect(namesIn(place).filter((name) => !isFirst(name))).to.deep.equal([]);
    keepsAll(before, await server.records());
    expect(await server.goesOn(WITHIN_MS), 'it takes records').to.equal(true);
    expect(await server.stop(), server.err).to.deep.equal({ code: 0, signal: null });
    disk.freeRest();
  }
  const server = await serve(place, 1, more);
  disk.free();
  await until('it is removed', () => server.out.includes(REMOVED), WITHIN_MS);
  await server.stop();
  const last = await serve(place, 0);
  const after = await last.records();
  expect(after.length, 'something is gone').to.be.lessThan(before.length);
  keepsAll(before, after);
  await last.stop();
  await verify(place.dataDir);
}

describe('a full disk at the removal of history', () => {
  before(function () {
    need(this, 'linux', 'root', 'mount');
  });

  if (isPlayed('until there is space', PARTS)) {
    it('loses nothing, leaves nothing half, and is done when there is space', async () => {
      await SmallDisk.with((place, disk) => fullAtRemoval(place, disk));
    }).timeout(300_000);
  }

  if (isPlayed('the server goes on', PARTS)) {
    it('while the server goes on: the next removal is done', async () => {
      await SmallDisk.with(async (place, disk) => {
        const before = await filled(place);
        disk.fillUp(LEFT_BYTES.at(-1));
        const server = await serve(place, 1);
        await until('the removal stops', () => server.out.includes(STOPPED), WITHIN_MS);
        disk.free();
        await removesNext(place, server, before);
      });
    }).timeout(180_000);
  }

  for (const name of inTurn(CONTROLS)) {
    it(`control: a program that ${name} is caught`, async () => {
      await SmallDisk.with(async (place, disk) => {
        const dist = copyProgram(path.join(place.dir, 'program'), LEAVES_HALF_A_SEGMENT);
        let caught = '';
        await fullAtRemoval(place, disk, { executable: executableOf(dist) }).catch(
          ({ message }) => {
            caught = message;
          },
        );
        expect(caught).to.include('tmp-');
      });
    }).timeout(180_000);
  }
});

describe('a device that fails at the removal of history', () => {
  before(function () {
    need(this, 'linux', 'cc');
  });

  if (isPlayed('the device fails', PARTS)) {
    it('leaves the log as it was, whichever call it is, and the next removal is done', async () => {
      await inPlace(async (place) => {
        const before = await filled(place);
        const device = new Device(path.join(place.dataDir, 'log', 'tmp-'), place.dir);
        device.breaks(FAULTS[0] as Fault);
        const server = await serve(place, 1, { env: device.env });
        const link = new HttpLink(place.httpPort);
        for (const fault of inTurn(FAULTS, 3)) {
          const what = JSON.stringify(fault);
          const { length } = server.out;
          device.breaks(fault);
          await link.call('submit', { payload: 'p', queue: 'done' });
          await finishOne(link);
          const isStopped = (): boolean => server.out.slice(length).includes(STOPPED);
          await until(`${what}: the removal stops`, isStopped, WITHIN_MS);
          expect(namesIn(place), what).to.satisfy((names: string[]) => names.every(isFirst));
        }
        link.close();
        device.mend();
        await removesNext(place, server, before);
      });
    }).timeout(300_000);
  }
});
