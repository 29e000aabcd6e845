// Holds `state --at SEQ` to the live state: while the loop goes through a long random story, with
// restarts and forgotten history in it, its digest is noted at each record; read off the disk as of
// each of these records, the state must have the same one.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { stateAt, withLog } from '../../src/cli/offline.ts';
import { stateDigest } from '../../src/core/digest.ts';
import { NONE } from '../../src/core/task-table.ts';
import { openLmdbLog } from '../../src/log/lmdb-log.ts';
import type { Log } from '../../src/log/log.ts';
import { replay } from '../../src/loop/replay.ts';
import type { Turn } from '../../src/loop/turn.ts';
import { type CoordinatorStarted, type LogRecord, taskOf } from '../../src/model/records.ts';
import { digestText } from '../../src/reader/digest-text.ts';
import { Random } from '../simulator/random.ts';
import { command } from '../support/command.ts';
import { leaseRequest, World } from '../support/world.ts';

const STEPS = 500;
type Held = { readonly taskId: number; readonly leaseId: number };

/** Sequence number → digest of the live state right after that record. */
type Digests = Map<number, string>;

class Story {
  readonly digests: Digests = new Map();
  private readonly world: World;
  private readonly dice: Random;
  private readonly held: Held[] = [];

  private constructor(world: World, seed: number) {
    this.world = world;
    this.dice = new Random(seed, 'story');
  }

  static async told(seed: number): Promise<{ digests: Digests; records: LogRecord[] }> {
    const knobs = { maxRetries: 1, poisonThreshold: 3, retentionMs: 60_000, backoffMs: 500 };
    const world = await World.started(knobs);
    const story = new Story(world, seed);
    story.watch();
    for (let step = 0; step < STEPS; step += 1) await story.step();
    return { digests: story.digests, records: world.records() };
  }

  /** Notes the state after each record that the loop decides. */
  private watch(): void {
    const loop = this.world.loop as unknown as Pick<Turn, 'decide'>;
    const decide = loop.decide.bind(loop);
    loop.decide = (...given) => {
      decide(...given);
      this.note();
    };
    this.note();
  }

  private note(): void {
    const { state } = this.world.loop.view;
    this.digests.set(state.lastSeq, stateDigest(state));
  }

  private async step(): Promise<void> {
    const { dice, held, world } = this;
    const queue = dice.pick(['a', 'b']);
    const one = held.length === 0 ? undefined : dice.pick(held);
    const what = dice.pick(['submit', 'lease', 'lease', 'end', 'end', 'beat', 'time', 'rare']);
    if (what === 'submit' || one === undefined) {
      await world.submit({ queue, delayMs: dice.pick([0, 0, 700]) });
      const answer = await world.ask(leaseRequest({ queues: ['a', 'b'] }));
      if (answer?.kind === 'leased') held.push(...answer.leases);
    } else if (what === 'lease') {
      const answer = await world.ask(leaseRequest({ queues: [queue], max: dice.pick([1, 3]) }));
      if (answer?.kind === 'leased') held.push(...answer.leases);
    } else if (what === 'end') {
      const kind = dice.pick(['error', 'released', 'permanent'] as const);
      if (dice.chance(0.5)) await world.complete(one);
      else await world.fail(one, { kind });
    } else if (what === 'beat') {
      // Most leases have ended by then. The newest ones have not, and some time must have passed:
      // a heartbeat that changes nothing leaves no record.
      world.time += 10;
      for (const lease of held.slice(-3)) await world.heartbeat(lease);
    } else if (what === 'time') {
      world.time += dice.pick([10, 1_000, 20_000]);
      await world.tick();
    } else if (dice.chance(0.5)) {
      await world.ask({ op: 'kill', taskId: one.taskId, reason: 'enough' });
      await world.ask({ op: 'redrive', taskId: one.taskId });
    } else {
      await world.restart();
      this.watch();
    }
  }
}

/** @param removedAt after this record what is forgotten by then is removed. */
async function write(dataDir: string, records: readonly LogRecord[], removedAt = 0): Promise<void> {
  const log = await openLmdbLog({ dataDir, segmentBytes: 40_960 });
  const [start, ...rest] = records;
  expect(await log.start(start as CoordinatorStarted)).equal('durable');
  for (const record of rest) {
    expect(await log.append([record])).equal('durable');
    if (record.seq === removedAt) await remove(log);
  }
  await log.close();
}

async function remove(log: Log): Promise<void> {
  const { state } = replay(log, { digestText });
  let removed = 0;
  for (const segment of log.sealed()) {
    removed += await log.rewrite(segment, (record) => {
      const task = taskOf(record);
      if (task === 0 || state.tasks.find(task) !== NONE) return true;
      return task < segment.first && !log.dropped.has(task);
    });
  }
  expect(removed).above(0);
}

describe('the state as of any record', () => {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'leasehold-states-'));
  after(() => fs.rmSync(dir, { recursive: true, force: true }));

  it('is what it was then', async () => {
    const seed = Number(process.env['SEED'] ?? 17);
    const { digests, records } = await Story.told(seed);
    const types = new Set(records.map(({ type }) => type));
    expect([...types], `SEED=${seed}`).members([
      'CoordinatorStarted',
      'HistoryForgotten',
      'LeaseExpired',
      'LeaseExtended',
      'LeaseGranted',
      'TaskCancelled',
      'TaskCompleted',
      'TaskCreated',
      'TaskDead',
      'TaskFailed',
    ]);
    expect(digests.size).above(300);
    expect(new Set(digests.values()).size, 'each state has its own').equal(digests.size);
    const dataDir = path.join(dir, String(seed));
    await write(dataDir, records);
    const io = { stdin: process.stdin, stdout: process.stdout, stderr: process.stderr, env: {} };
    await withLog(dataDir, async (log) => {
      for (const [seq, digest] of digests) {
        const state = await stateAt(log, seq, io);
        expect(stateDigest(state), `SEED=${seed}, after record ${seq}`).equal(digest);
      }
    });
    const seqs = [...digests.keys()];
    for (const seq of [1, seqs[seqs.length >> 1] as number, seqs.at(-1) as number]) {
      const args = ['state', '--data-dir', dataDir, '--at', String(seq), '--json'];
      const told = await command(args);
      expect(JSON.parse(told.out), told.err).include({ seq, digest: digests.get(seq) });
    }
  }).timeout(180_000);

  it('goes back to where history was removed, and is refused before that', async () => {
    const { digests, records } = await Story.told(23);
    const forgotten = records.filter(({ type }) => type === 'HistoryForgotten');
    const { seq: by } = forgotten[forgotten.length >> 1] as LogRecord;
    const dataDir = path.join(dir, 'removed');
    await write(dataDir, records, by);
    const told = async (seq: number) => {
      const { code, out, err } = await command([
        ...['state', '--data-dir', dataDir, '--at', String(seq), '--json'],
      ]);
      return code === 0 ? JSON.parse(out) : { code, err };
    };
    for (const seq of [by, by + 1, records.length]) {
      expect(await told(seq)).include({ seq, digest: digests.get(seq) });
    }
    for (const seq of [1, by - 1]) {
      const refused = await told(seq);
      expect(refused.code, `after record ${seq}`).equal(1);
      expect(refused.err).include(`goes back to record ${by}`);
    }
    const { lost, open } = await withLog(dataDir, (log) => ({
      lost: log.dropped.ranges[0]?.[0],
      open: [...log.read(1)].find(({ type }) => type === 'TaskCreated')?.seq,
    }));
    const story = ['explain', `T${open}`, '--data-dir', dataDir, '--at', String(lost)];
    const { code, err } = await command(story);
    expect([code, err]).deep.equal([
      2,
      `--at: Record ${lost} is forgotten and removed: what was true after it cannot be told.\n`,
    ]);
    const copy = path.join(dir, 'copy');
    const args = ['backup', '--data-dir', dataDir, '--until', String(by - 1), copy];
    expect((await command(args)).out).include(
      `Not in it: the tasks that were forgotten up to record ${by}.`,
    );
    expect((await command(['state', '--data-dir', copy])).err).include(
      '; this log ends with record ',
    );
  }).timeout(180_000);
});
