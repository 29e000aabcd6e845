// Runs the commands that read a data directory on a log that a real coordinator's story was written
// to: verify, state at any record, log, explain and backup.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { stateDigest } from '../../src/core/digest.ts';
import { openLmdbLog } from '../../src/log/lmdb-log.ts';
import type { CoordinatorStarted, LogRecord } from '../../src/model/records.ts';
import { command, type Ran } from '../support/command.ts';
import { World } from '../support/world.ts';

const run = (...args: string[]): Promise<Ran> => command(args);

const json = ({ out }: Ran): Record<string, unknown> => JSON.parse(out) as never;

/** A task that expires, is reported late and completes, another that fails, and one that waits. */
async function story(digests: Map<number, string>): Promise<LogRecord[]> {
  const world = await World.started({ leaseDurationMs: 1_000 });
  const note = (): void =>
    void digests.set(world.loop.view.state.lastSeq, stateDigest(world.loop.view.state));
  const step = async (act: Promise<unknown>): Promise<void> => {
    await act;
    note();
  };
  await step(world.submit({ queue: 'a', payload: new TextEncoder().encode('MARKER payload') }));
  const first = await world.lease({ queues: ['a'] });
  note();
  world.time += 2_000;
  await step(world.tick());
  const second = await world.lease({ queues: ['a'] });
  await step(world.complete(first));
  await step(world.complete(second));
  await step(world.submit({ queue: 'b' }));
  const third = await world.lease({ queues: ['b'] });
  await step(world.fail(third));
  return world.records();
}

async function write(dataDir: string, records: readonly LogRecord[]): Promise<void> {
  const log = await openLmdbLog({ dataDir });
  const [start, ...rest] = records;
  expect(await log.start(start as CoordinatorStarted)).equal('durable');
  expect(await log.append(rest)).equal('durable');
  await log.close();
}

/** Name → content of every file but LMDB's lock files, which readers register in. */
function contents(dir: string): Record<string, string> {
  const files = fs.readdirSync(dir, { recursive: true, encoding: 'utf8' });
  const kept = files.filter((name) => !name.endsWith('lock.mdb'));
  const whole = kept.filter((name) => fs.statSync(path.join(dir, name)).isFile());
  return Object.fromEntries(
    whole.map((name) => [name, fs.readFileSync(path.join(dir, name)).toString('base64')]),
  );
}

describe('commands on a data directory', function () {
  this.timeout(180_000);
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'leasehold-offline-'));
  const dataDir = path.join(dir, 'data');
  const digests = new Map<number, string>();
  let records: LogRecord[];

  before(async () => {
    records = await story(digests);
    await write(dataDir, records);
  });
  after(() => fs.rmSync(dir, { recursive: true, force: true }));

  it('log says which record is the newest where there is none to show', async () => {
    const { code, out, err } = await run('log', '--data-dir', dataDir, '--from', '99999');
    expect([code, out]).deep.equal([0, '']);
    expect(err).equal(`no record matches; the newest record is ${records.length}\n`);
  });

  it('verify says what is there and changes nothing', async () => {
    const before = contents(dataDir);
    const ended = await run('verify', '--data-dir', dataDir, '--json');
    expect(ended.code, ended.err).equal(0);
    const last = records.length;
    expect(json(ended)).include({ ok: true, records: last, last_sequence: last });
    expect(json(ended)['digest']).equal(digests.get(last));
    expect(contents(dataDir)).deep.equal(before);
  });

  it('state shows the state as it was after any record', async () => {
    for (const [seq, digest] of digests) {
      const ended = await run('state', '--data-dir', dataDir, '--at', String(seq), '--json');
      expect(json(ended), `at ${seq}`).include({ seq, digest });
    }
    expect((await run('state', '--data-dir', dataDir, '--at', '999')).code).equal(2);
  });

  it('log and explain tell what a server would', async () => {
    const shown = await run('log', '--data-dir', dataDir, '--task', 'T2', '--json');
    const types = shown.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string });
    expect(types.map(({ type }) => type).join(' ')).equal(
      'TaskCreated LeaseGranted LeaseExpired LeaseGranted TaskCancelled TaskCompleted',
    );
    const told = await run('explain', '--data-dir', dataDir, 'T2');
    expect(told.out)
      .include("L3 was still in a worker's hands while L5 was held")
      .and.include('It is COMPLETED');
    const earlier = await run('explain', '--data-dir', dataDir, '--at', '4', 'T2');
    expect(earlier.out).include('· WAITING').and.not.include('asked for queue');
    const drawn = await run('explain', '--data-dir', dataDir, '--svg', '-', 'T2');
    expect(drawn.out).include('<svg');
    expect((await run('explain', '--data-dir', dataDir, 'T99')).code).equal(1);
  });

  it('explain says of a task that is not there what a server says, as of a record', async () => {
    const newest = records.length;
    for (const [asked, seq] of [
      [['T999'], newest],
      [['T2', '--at', '1'], 1],
    ] as const) {
      const { code, err } = await run('explain', '--data-dir', dataDir, ...asked);
      expect(code).to.equal(1);
      expect(err).to.equal(`leasehold: no task ${asked[0]} is remembered after record ${seq}\n`);
    }
  });

  it('backup copies a log, or its beginning; the copy is a log like any other', async () => {
    const copy = path.join(dir, 'copy');
    expect((await run('backup', '--data-dir', dataDir, copy)).code).equal(0);
    const whole = json(await run('verify', '--data-dir', copy, '--json'));
    expect(whole['digest']).equal(digests.get(records.length));
    const part = path.join(dir, 'part');
    const ended = await run('backup', '--data-dir', dataDir, '--until', '4', part, '--json');
    expect(json(ended)).include({ last_sequence: 4, left_behind: records.length - 4 });
    const begun = json(await run('verify', '--data-dir', part, '--json'));
    expect(begun).include({ last_sequence: 4, digest: digests.get(4) });
    const more = await run('backup', '--data-dir', dataDir, part, '--json');
    expect(json(more)).include({ records: records.length, left_behind: 0, segments_copied: 1 });
    const again = await run('backup', '--data-dir', dataDir, part);
    expect(again.out).include('0 segments were copied, 1 was there already');
    expect(json(await run('verify', '--data-dir', part, '--json'))).include({
      digest: digests.get(records.length),
    });
    // A start takes the note away: the copy goes its own way from then on.
    fs.rmSync(path.join(part, 'restored'));
    expect((await run('backup', '--data-dir', dataDir, part)).err).include('not empty');
  });

  it('verify names the first bad record, and backup saves what is before it', async () => {
    const damaged = path.join(dir, 'damaged');
    fs.cpSync(dataDir, damaged, { recursive: true });
    const file = path.join(damaged, 'log', '00000001-0', 'data.mdb');
    const bytes = fs.readFileSync(file);
    // The newest copy of a page counts, and LMDB leaves older ones behind: mark them all.
    for (let at = bytes.indexOf('MARKER'); at >= 0; at = bytes.indexOf('MARKER', at + 1)) {
      bytes[at + 3] = 0;
    }
    fs.writeFileSync(file, bytes);
    const ended = await run('verify', '--data-dir', damaged, '--json');
    expect(ended.code).equal(1);
    expect(JSON.parse(ended.err)).include({ ok: false, record: 2, code: 'LOG_CORRUPT' });
    const words = await run('verify', '--data-dir', damaged);
    const wayOut = `\`leasehold backup --until 1 NEWDIR --data-dir ${damaged}\``;
    expect(words.err).include('record 2').and.include(wayOut);
    const saved = await run('backup', '--until', '1', path.join(dir, 'ok'), '--data-dir', damaged);
    expect(saved.code, saved.err).equal(0);
  });

  it('backup says in words that there is nothing to copy, or nowhere to copy it to', async () => {
    const file = path.join(dir, 'a-file');
    fs.writeFileSync(file, '');
    const logFile = path.join(dir, 'log-is-a-file');
    fs.mkdirSync(logFile);
    fs.writeFileSync(path.join(logFile, 'log'), '');
    for (const [from, to] of [
      [path.join(dir, 'nowhere'), path.join(dir, 'new')],
      [file, path.join(dir, 'new')],
      [logFile, path.join(dir, 'new')],
      [dataDir, file],
    ] as const) {
      const ended = await run('backup', '--data-dir', from, to);
      expect(ended.code).equal(1);
      expect(ended.err).match(/^leasehold: LOG_DIRECTORY: [^\n]+\n$/);
    }
  });

  it('verify promises no way out when not even the first record can be read', async () => {
    const zeroed = path.join(dir, 'zeroed');
    fs.cpSync(dataDir, zeroed, { recursive: true });
    const file = path.join(zeroed, 'log', '00000001-0', 'data.mdb');
    fs.writeFileSync(file, Buffer.alloc(fs.statSync(file).size));
    const ended = await run('verify', '--data-dir', zeroed);
    expect(ended.code).equal(1);
    expect(ended.err).include('record 1').and.not.include('--until');
  });

  it('verify outlives a file that cannot be mapped', async () => {
    const cut = path.join(dir, 'cut');
    fs.cpSync(dataDir, cut, { recursive: true });
    const file = path.join(cut, 'log', '00000001-0', 'data.mdb');
    fs.truncateSync(file, fs.statSync(file).size / 2);
    const ended = await run('verify', '--data-dir', cut);
    expect(ended.code).equal(1);
    expect(ended.err).match(/LOG_(IO|CORRUPT)/);
  });
});
