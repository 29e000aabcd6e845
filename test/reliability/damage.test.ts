// Damages the files of a real log while nobody serves it, and starts the real executable on it: it
// refuses to start and names the record and the way out, or the damage was harmless and every
// record is as it was. It never dies of a signal, and nothing on the disk is changed by a refusal.

import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { rewriteEntry } from '../log/lmdb-faults.ts';
import { Random } from '../simulator/random.ts';
import { type Fields, inPlace, Place } from '../support/server.ts';
import { inTurn, sized } from '../support/tier.ts';
import { roundsOf } from './rounds.ts';
import { Traffic } from './traffic.ts';

const PAGE = 4_096;
const ARGS = ['--log-level', 'warn', '--segment-bytes', '1048576'];

/** What it says can be done. */
const COPIES_WHAT_IS_SOUND = /`leasehold backup --until \d+ NEWDIR --data-dir [^`]+`/;
const NOTHING_SOUND = /No record before it is sound: what is left is a backup\./;

interface Sound {
  readonly place: Place;
  readonly log: readonly Fields[];
}

type Damage = (dataDir: string, random: Random) => Promise<void> | void;

const filesOf = (dataDir: string): string[] =>
  fs
    .readdirSync(path.join(dataDir, 'log'))
    .toSorted()
    .map((name) => path.join(dataDir, 'log', name, 'data.mdb'));

function change(file: string, how: (bytes: Buffer) => Buffer | void): void {
  const bytes = fs.readFileSync(file);
  fs.writeFileSync(file, how(bytes) ?? bytes);
}

/** Only where something was written: the successor that is made ahead is empty. */
const writtenFiles = (dataDir: string): string[] =>
  filesOf(dataDir).filter((file) => fs.statSync(file).size > 4 * PAGE);

const flip = (bytes: Buffer, at: number, bit: number): void => {
  bytes[at] = (bytes[at] as number) ^ (1 << bit);
};

async function valueOf(dataDir: string, seq: number): Promise<Uint8Array> {
  let found = new Uint8Array(0);
  await rewriteEntry(dataDir, seq, (bytes) => {
    found = bytes.slice();
    return bytes;
  });
  return found;
}

const DAMAGES: Readonly<Record<string, Damage>> = {
  'a flipped bit': (dataDir, random) =>
    change(random.pick(writtenFiles(dataDir)), (bytes) =>
      flip(bytes, random.below(bytes.length), random.below(8)),
    ),
  'a flipped bit in the head of a page': (dataDir, random) =>
    change(random.pick(writtenFiles(dataDir)), (bytes) => {
      const page = random.below(bytes.length / PAGE);
      flip(bytes, page * PAGE + random.below(64), random.below(8));
    }),
  'a file that was cut off': (dataDir, random) =>
    change(random.pick(writtenFiles(dataDir)), (bytes) =>
      bytes.subarray(0, random.below(bytes.length)),
    ),
  'a page of zeros': (dataDir, random) =>
    change(random.pick(writtenFiles(dataDir)), (bytes) => {
      const page = random.below(bytes.length / PAGE);
      bytes.fill(0, page * PAGE, (page + 1) * PAGE);
    }),
  'two values that changed places': async (dataDir, random) => {
    const one = random.between(3, 60);
    const two = one + random.between(1, 20);
    const [first, second] = [await valueOf(dataDir, one), await valueOf(dataDir, two)];
    await rewriteEntry(dataDir, one, () => second);
    await rewriteEntry(dataDir, two, () => first);
  },
  'a missing record': (dataDir, random) =>
    rewriteEntry(dataDir, random.between(2, 60), () => undefined),
  'a missing segment': (dataDir, random) => {
    const file = random.pick(writtenFiles(dataDir));
    fs.rmSync(path.dirname(file), { recursive: true });
  },
  'a missing newest segment': (dataDir) => {
    fs.rmSync(path.dirname(writtenFiles(dataDir).at(-1) as string), { recursive: true });
  },
  'a meta page of nonsense': (dataDir, random) =>
    change(random.pick(writtenFiles(dataDir)), (bytes) => {
      const page = random.below(2);
      for (let at = page * PAGE; at < (page + 1) * PAGE; at += 1) bytes[at] = random.below(256);
    }),
  'meta pages of nonsense': (dataDir, random) =>
    change(random.pick(writtenFiles(dataDir)), (bytes) => {
      for (let at = 0; at < 2 * PAGE; at += 1) bytes[at] = random.below(256);
    }),
  'a file that ends in its meta pages': (dataDir, random) =>
    change(random.pick(writtenFiles(dataDir)), (bytes) =>
      bytes.subarray(0, random.below(2 * PAGE)),
    ),
  'an empty file': (dataDir, random) =>
    change(random.pick(writtenFiles(dataDir)), (bytes) => bytes.subarray(0, 0)),
  'a segment in the place of another': (dataDir, random) => {
    const files = writtenFiles(dataDir);
    const from = random.below(files.length - 1);
    fs.copyFileSync(files[from] as string, files[from + 1] as string);
  },
};

/** In a short round three, others each day. */
const PLAYED = inTurn(Object.entries(DAMAGES), 3);

/** Names and contents of what holds the log. */
function contents(dataDir: string): Record<string, string> {
  const hash = (file: string): string =>
    createHash('sha256').update(fs.readFileSync(file)).digest('hex');
  return Object.fromEntries(filesOf(dataDir).map((file) => [file, hash(file)]));
}

describe('a start on a damaged log', () => {
  const rounds = roundsOf('damage', 1, 60_000);
  let sound: Sound;

  before(async function () {
    this.timeout(180_000);
    const place = await Place.open();
    const server = await place.serve({ args: ARGS }).ready();
    const payload = (random: Random): string => 'p'.repeat(random.pick([10, 1_000, 20_000]));
    const traffic = new Traffic(place, { seed: 1, clients: 4, rounds: 60, payload });
    await traffic.over;
    traffic.close();
    const log = await server.records();
    await server.stop();
    sound = { place, log };
    expect(writtenFiles(place.dataDir).length, 'segments').to.be.greaterThan(1);
  });
  after(() => sound.place.close());

  /** @returns how it went, in words for the soak. */
  async function startOn(place: Place, name: string): Promise<'refused' | 'harmless'> {
    const before = contents(place.dataDir);
    const server = place.serve({ args: ARGS });
    const ready = await server.ready().then(
      () => true,
      () => false,
    );
    if (ready) {
      const found = await server.records();
      expect(found.slice(0, sound.log.length), name).to.deep.equal(sound.log);
      expect(await server.stop()).to.deep.equal({ code: 0, signal: null });
      return 'harmless';
    }
    const ended = await server.ended;
    const code = server.err.includes('LOG_CORRUPT') ? 6 : 1;
    expect(ended, name).to.deep.equal({ code, signal: null });
    expect(server.err, name).to.match(/record \d+/);
    const isFirst = /record 1:/.test(server.err);
    expect(server.err, name).to.match(isFirst ? NOTHING_SOUND : COPIES_WHAT_IS_SOUND);
    expect(contents(place.dataDir), `${name}: nothing was changed`).to.deep.equal(before);
    return 'refused';
  }

  it('is refused by the number of a record, or is as if nothing were', async () => {
    const counts = { refused: 0, harmless: 0 };
    await rounds.run(async (seed) => {
      for (const [name, damage] of PLAYED) {
        await inPlace(async (place) => {
          fs.cpSync(sound.place.dataDir, place.dataDir, { recursive: true });
          await damage(place.dataDir, new Random(seed, name));
          counts[await startOn(place, name)] += 1;
        });
      }
    });
    // Of all there are, most cannot be harmless; three of them may be.
    const refusals = sized(counts.harmless + 1, 0);
    expect(counts.refused, JSON.stringify(counts)).to.be.at.least(refusals);
  }).timeout(rounds.timeoutMs);

  for (const when of inTurn(['while it is served'])) {
    it(`that is damaged ${when}: nothing wrong is given out`, async () => {
      await inPlace(async (place) => {
        fs.cpSync(sound.place.dataDir, place.dataDir, { recursive: true });
        const server = await place.serve({ args: ARGS }).ready();
        const mark = 'a payload that is looked for '.repeat(4);
        const body = JSON.stringify({ payload: mark, queue: 'marked' });
        await fetch(`${server.url}/v1/tasks`, { method: 'POST', body });
        const file = filesOf(place.dataDir).find((name) => fs.readFileSync(name).includes(mark));
        // In place, as a device would: the server has the file open.
        const fd = fs.openSync(file as string, 'r+');
        for (let at = 0; ; at += 1) {
          at = fs.readFileSync(file as string).indexOf(mark, at);
          if (at < 0) break;
          fs.writeSync(fd, 'A', at);
        }
        fs.closeSync(fd);
        const lease = JSON.stringify({ worker_id: 'w', queues: ['marked'] });
        const answer = await fetch(`${server.url}/v1/leases`, { method: 'POST', body: lease })
          .then((response) => response.text())
          .catch(() => '');
        expect(answer).to.not.include('payload that is looked for');
        await Promise.race([server.ended, pause(60_000, undefined, { ref: false })]);
        const code = server.err.includes('LOG_CORRUPT') ? 6 : 1;
        expect(server.over, 'it stops').to.deep.equal({ code, signal: null });
        expect(server.err).to.match(/record \d+/);
      });
    }).timeout(180_000);
  }
});
