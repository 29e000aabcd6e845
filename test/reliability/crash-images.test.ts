// Power cuts at every moment of a recorded run, each leaving what a disk with a cache may leave:
// everything acknowledged is there, whole, and nothing that was never written. A disk that lies
// about its flushes must be found out, else this proof would prove nothing.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { applyChecked } from '../../src/core/apply.ts';
import { stateDigest } from '../../src/core/digest.ts';
import { State } from '../../src/core/state.ts';
import { decodeRecord, encodeRecord } from '../../src/log/codec.ts';
import { openLmdbLog } from '../../src/log/lmdb-log.ts';
import { openLmdbReader } from '../../src/log/lmdb-reader.ts';
import type { LogReader } from '../../src/log/log.ts';
import { replay } from '../../src/loop/replay.ts';
import { group, started } from '../log/records.ts';
import { Random } from '../simulator/random.ts';
import { cleanEnv } from '../support/server.ts';
import { inTurn, sized } from '../support/tier.ts';
import { digestText } from '../support/world.ts';
import {
  ALL_KEPT,
  anyLoss,
  CrashDisk,
  type Entry,
  entriesOf,
  HONEST,
  type Honesty,
  NOTHING_KEPT,
} from './crash-disk.ts';
import { Device } from './device.ts';
import { need } from './machine.ts';
import { roundsOf } from './rounds.ts';

const SHM = fs.existsSync('/dev/shm') ? '/dev/shm' : undefined;
const RUN = fileURLToPath(new URL('./recorded-run.js', import.meta.url));
const RECORDS = 400;
/** Images of one recorded run. */
const IMAGES = sized(2_000, 200);
const CONTROL_IMAGES = sized(400, 200);
/** Every so many images the log is also written to, as a start would. */
const GO_ON_EVERY = 20;

interface Recorded {
  readonly entries: readonly Entry[];
  readonly dataDir: string;
  /** By number: the record's bytes, and the digest of the state after it. */
  readonly bytes: ReadonlyMap<number, string>;
  readonly digests: ReadonlyMap<number, string>;
}

describe('power cuts at every moment', function () {
  const rounds = roundsOf('crash images', 1, 240_000);
  let directory: string;
  before(function () {
    need(this, 'linux', 'cc');
  });
  beforeEach(() => {
    directory = fs.mkdtempSync(path.join(os.tmpdir(), 'leasehold-images-'));
  });
  afterEach(() => fs.rmSync(directory, { recursive: true, force: true }));

  it(`leave what was acknowledged, ${IMAGES} times`, async () => {
    await rounds.run(async (seed) => {
      const recorded = await record(path.join(directory, `${seed}`), seed);
      const made = recorded.entries.flatMap(({ kind, other }) => (kind === 'R' ? [other] : []));
      expect(made.filter((name) => name.endsWith('-0')).length, 'segments').to.be.above(3);
      expect(made.filter((name) => !name.endsWith('-0')).length, 'rewrites').to.be.above(1);
      const { wrong, images } = await look(recorded, seed, HONEST, IMAGES);
      expect(wrong).to.deep.equal([]);
      expect(images).to.be.at.least(IMAGES * 0.9);
    });
  }).timeout(rounds.timeoutMs);

  for (const [name, honesty] of inTurn([
    ['no flush', { flushes: false, metas: true }],
    ['no flush of the last write of a commit', { flushes: true, metas: false }],
  ] as const)) {
    it(`are found out on a disk that makes ${name}`, async () => {
      const recorded = await record(path.join(directory, 'control'), 1);
      const { wrong } = await look(recorded, 1, honesty, CONTROL_IMAGES);
      expect(wrong.length).to.be.greaterThan(CONTROL_IMAGES / 20);
    }).timeout(180_000);
  }
});

/** Plays a run on a traced device. */
async function record(directory: string, seed: number): Promise<Recorded> {
  fs.mkdirSync(directory, { recursive: true });
  const dataDir = path.join(directory, 'data');
  const device = new Device(dataDir, directory, true);
  const args = [RUN, dataDir, String(seed), String(RECORDS)];
  const run = spawn(process.execPath, args, { env: cleanEnv(device.env), stdio: 'inherit' });
  const [code] = await once(run, 'exit');
  expect(code, 'the recorded run').to.equal(0);
  const entries = [...entriesOf(device.trace)];
  const bytes = new Map<number, string>();
  const digests = new Map<number, string>();
  const state = new State(digestText);
  for (const line of written(entries, path.join(dataDir, 'history'))) {
    const [seq, text] = line.split(' ') as [string, string];
    bytes.set(Number(seq), text);
    applyChecked(state, decodeRecord(Number(seq), Buffer.from(text, 'base64')));
    digests.set(Number(seq), stateDigest(state));
  }
  return { entries, dataDir, bytes, digests };
}

function written(entries: readonly Entry[], file: string): string[] {
  const parts = entries.filter((entry) => entry.path === file && entry.kind === 'W');
  const lines = Buffer.concat(parts.map(({ data }) => data))
    .toString()
    .split('\n');
  return lines.filter((line) => line !== '');
}

/** Cuts the power at moments spread over the run, and looks at what is left. */
async function look(recorded: Recorded, seed: number, honesty: Honesty, count: number) {
  const { entries, dataDir } = recorded;
  const disk = new CrashDisk(dataDir, honesty);
  const dice = new Random(seed, 'power cuts');
  const image = fs.mkdtempSync(path.join(SHM ?? os.tmpdir(), 'leasehold-image-'));
  const wrong: string[] = [];
  let images = 0;
  let acknowledged = 0;
  try {
    for (const [at, entry] of entries.entries()) {
      disk.take(entry);
      if (entry.path.endsWith('/acknowledged') && entry.kind === 'W') {
        acknowledged = Number(entry.data.toString());
      }
      for (; images < ((at + 1) * count) / entries.length; images += 1) {
        const loss = dice.pick([NOTHING_KEPT, ALL_KEPT, anyLoss(dice), anyLoss(dice)]);
        fs.rmSync(image, { recursive: true });
        disk.leave(image, loss);
        const goesOn = images % GO_ON_EVERY === 0;
        const why = await whatIsWrong(recorded, image, acknowledged, goesOn);
        if (why !== undefined) wrong.push(`after call ${at} (${entry.kind} ${entry.path}): ${why}`);
      }
    }
  } finally {
    fs.rmSync(image, { recursive: true, force: true });
  }
  return { wrong, images };
}

async function whatIsWrong(
  { bytes, digests }: Recorded,
  image: string,
  acknowledged: number,
  goesOn: boolean,
): Promise<string | undefined> {
  let reader: LogReader | undefined;
  try {
    reader = await openLmdbReader(image);
    const { lastNumber } = reader;
    if (lastNumber < acknowledged)
      return `${acknowledged} was acknowledged, ${lastNumber} is there`;
    for (const record of reader.read(1)) {
      const found = Buffer.from(encodeRecord(record)).toString('base64');
      if (found !== bytes.get(record.seq)) return `record ${record.seq} is another one`;
    }
    const digest = stateDigest(replay(reader, { digestText }).state);
    if (lastNumber > 0 && digest !== digests.get(lastNumber)) {
      return `the state at record ${lastNumber} is another one`;
    }
    return goesOn ? await cannotGoOn(image, lastNumber + 1) : undefined;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'LOG_DIRECTORY' && acknowledged === 0) return undefined; // Not yet made.
    return `${code}: ${message}`;
  } finally {
    await reader?.close();
  }
}

async function cannotGoOn(image: string, next: number): Promise<string | undefined> {
  const log = await openLmdbLog({ dataDir: image, lock: false });
  try {
    if ((await log.start(started(next))) !== 'durable') return 'the log takes no start';
    if ((await log.append(group(next + 1, next + 3))) !== 'durable') return 'the log takes nothing';
    return [...log.read(next)].length === 4 ? undefined : 'what was appended is not there';
  } finally {
    await log.close();
  }
}
