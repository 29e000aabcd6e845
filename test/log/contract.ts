// Owns the one suite that holds every store to the promise of log.ts. It knows no store: what a
// store needs to be opened twice, to break down or to be damaged, its test hands in.

import { expect } from 'chai';
import { type Log, LogCorrupt, LogError } from '../../src/log/log.ts';
import type { LogRecord } from '../../src/model/records.ts';
import { created, group, started } from './records.ts';

/** One log on its device, which outlives every `open`. */
export interface Device {
  /** Another writer; several may be open at once, as if they did not see each other's lock. */
  open(): Promise<Log>;
  /** Makes the next commit of this writer fail. */
  failNext(log: Log): void;
  /** Changes the stored bytes of a record while nobody has the log open; undefined removes it. */
  damage(seq: number, how: (bytes: Uint8Array) => Uint8Array | undefined): Promise<void>;
  /** Closes what is still open and removes the device. */
  remove(): Promise<void>;
}

const all = (log: Log, from = 1, to?: number) => [...log.read(from, to)];
const numbers = (records: Iterable<LogRecord>) => [...records].map(({ seq }) => seq);
const plain = (records: readonly LogRecord[]) => JSON.parse(JSON.stringify(records)) as unknown;
const upTo = (last: number) => Array.from({ length: last }, (_, i) => i + 1);

/** @param seals whether the store seals a stretch after every few groups, or not within a test. */
export function holdsTheContract(
  name: string,
  seals: boolean,
  makeDevice: () => Promise<Device>,
): void {
  describe(`the log contract: ${name}`, () => {
    let device: Device;
    beforeEach(async () => {
      device = await makeDevice();
    });
    afterEach(() => device.remove());

    /** A log that holds the records 1..last. */
    async function filled(last: number): Promise<Log> {
      const log = await device.open();
      expect(await log.start(started(1))).to.equal('durable');
      if (last > 1) expect(await log.append(group(2, last))).to.equal('durable');
      return log;
    }

    describe('order', () => {
      it('begins empty', async () => {
        const log = await device.open();
        expect(log.lastNumber).to.equal(0);
        expect(all(log)).to.deep.equal([]);
        expect(log.get(0)).to.equal(undefined);
        expect(log.get(1)).to.equal(undefined);
      });

      it('gives back what was appended, in order', async () => {
        const log = await filled(1);
        await log.append([created(2, 'a')]);
        await log.append([created(3, 'b'), created(4, '')]);
        const expected = [started(1), created(2, 'a'), created(3, 'b'), created(4, '')];
        expect(plain(all(log))).to.deep.equal(plain(expected));
        expect(log.lastNumber).to.equal(4);
      });

      it('reads from any number to any number', async () => {
        const log = await filled(20);
        expect(numbers(all(log, 7, 9))).to.deep.equal([7, 8, 9]);
        expect(numbers(all(log, 19))).to.deep.equal([19, 20]);
        expect(numbers(all(log, 20, 99))).to.deep.equal([20]);
        expect(all(log, 21)).to.deep.equal([]);
        expect(all(log, 9, 8)).to.deep.equal([]);
        expect(numbers(all(log, -5, 2))).to.deep.equal([1, 2]);
        expect(log.get(13)?.seq).to.equal(13);
        expect(log.get(21)).to.equal(undefined);
      });

      it('reads to the end as of the call, in spite of later appends', async () => {
        const log = await filled(3);
        const reading = log.read(1)[Symbol.iterator]();
        expect(reading.next().value?.seq).to.equal(1);
        await log.append(group(4, 5));
        const rest: number[] = [];
        for (let step = reading.next(); !step.done; step = reading.next())
          rest.push(step.value.seq);
        expect(rest).to.deep.equal([2, 3]);
      });

      it('takes large groups and large records', async () => {
        const log = await filled(1);
        const large = 'x'.repeat(1_048_576);
        expect(await log.append([created(2, large), created(3, large)])).to.equal('durable');
        expect(await log.append(group(4, 3_000))).to.equal('durable');
        expect(numbers(all(log))).to.deep.equal(upTo(3_000));
        expect(plain([log.get(3) as LogRecord])).to.deep.equal(plain([created(3, large)]));
      });

      it('refuses a group with a hole as the bug that it is', async () => {
        const log = await filled(1);
        expect(() => log.append([])).to.throw();
        expect(() => log.append([created(2), created(4)])).to.throw('record 3');
      });
    });

    describe('reopening', () => {
      it('holds after closing what it held before', async () => {
        const log = await filled(50);
        await log.close();
        const again = await device.open();
        expect(again.lastNumber).to.equal(50);
        expect(plain(all(again))).to.deep.equal(plain([started(1), ...group(2, 50)]));
        expect(await again.start(started(51))).to.equal('durable');
        expect(again.bytes().total).to.be.greaterThan(0);
      });

      it('is harmless when nothing had failed', async () => {
        const log = await filled(5);
        await log.reopen();
        expect(log.lastNumber).to.equal(5);
        expect(await log.append(group(6, 7))).to.equal('durable');
        expect(numbers(all(log))).to.deep.equal(upTo(7));
      });
    });

    describe('fencing', () => {
      it('lets only one of two writers start at the same number', async () => {
        await (await filled(3)).close();
        const [one, two] = [await device.open(), await device.open()];
        expect(await one.start(started(4))).to.equal('durable');
        expect(await two.start(started(4))).to.equal('fenced');
        expect(await one.append(group(5, 6))).to.equal('durable');
      });

      it('refuses a stale writer all that it pipelined, and for good', async () => {
        const stale = await filled(3);
        const next = await device.open();
        expect(await next.start(started(4))).to.equal('durable');
        const pipelined = [
          stale.append([created(4, 'stale')]),
          // This number is still free: only the line of the writer keeps it out.
          stale.append([created(5, 'stale')]),
          stale.append(group(6, 9, 'stale')),
        ].map((result) => Promise.resolve(result));
        expect(await Promise.all(pipelined)).to.deep.equal(['fenced', 'fenced', 'fenced']);
        expect(await next.append(group(5, 6))).to.equal('durable');
        expect(await stale.append([created(7, 'stale')])).to.equal('fenced');
        let told: unknown;
        await stale.reopen().catch((error: unknown) => {
          told = error;
        });
        expect(told).to.be.instanceOf(LogError).with.property('code', 'LOG_FENCED');
        expect(await stale.append([created(7, 'stale')])).to.equal('fenced');
        await next.close();
        const reader = await device.open();
        expect(plain(all(reader))).to.deep.equal(
          plain([started(1), ...group(2, 3), started(4), ...group(5, 6)]),
        );
      });

      it('refuses a stale group that reaches beyond the end of the log', async () => {
        const stale = await filled(3);
        const next = await device.open();
        expect(await next.start(started(4))).to.equal('durable');
        expect(await stale.append(group(4, 40, 'stale'))).to.equal('fenced');
        expect(next.lastNumber).to.equal(4);
        await next.reopen();
        expect(next.lastNumber).to.equal(4);
      });
    });

    describe('failure', () => {
      it('reports it, takes nothing until reopened, then goes on', async () => {
        const log = await filled(3);
        device.failNext(log);
        const first = log.append(group(4, 5));
        const pipelined = log.append(group(6, 7));
        expect(await first).to.equal('failed');
        expect(await pipelined).to.equal('failed');
        expect(await log.append(group(4, 5))).to.equal('failed');
        await log.reopen();
        expect(log.lastNumber).to.equal(3);
        expect(numbers(all(log))).to.deep.equal([1, 2, 3]);
        expect(await log.start(started(4))).to.equal('durable');
        expect(await log.append(group(5, 6))).to.equal('durable');
        expect(numbers(all(log))).to.deep.equal(upTo(6));
      });
    });

    describe('what cannot be believed', () => {
      it('names a damaged record and gives those before it', async () => {
        await (await filled(10)).close();
        await device.damage(7, (bytes) =>
          bytes.map((b, i) => (i === bytes.length - 1 ? b ^ 1 : b)),
        );
        const log = await device.open();
        const read: number[] = [];
        expect(() => {
          for (const { seq } of log.read(1)) read.push(seq);
        })
          .to.throw(LogCorrupt, 'record 7')
          .with.property('seq', 7);
        expect(read.every((seq) => seq < 7)).to.equal(true);
        expect(() => log.get(7)).to.throw(LogCorrupt, 'record 7');
        expect(numbers(all(log, 8))).to.deep.equal([8, 9, 10]);
      });

      it('names a missing record', async () => {
        await (await filled(10)).close();
        await device.damage(4, () => undefined);
        const log = await device.open();
        expect(() => all(log))
          .to.throw(LogCorrupt, 'record 4')
          .with.property('seq', 4);
        expect(() => all(log, 4)).to.throw(LogCorrupt, 'record 4');
        expect(() => log.get(4)).to.throw(LogCorrupt, 'record 4');
      });

      it('notices records that changed places', async () => {
        await (await filled(10)).close();
        let other = new Uint8Array();
        await device.damage(5, (bytes) => {
          other = bytes.slice();
          return bytes;
        });
        await device.damage(6, () => other);
        const log = await device.open();
        expect(() => all(log)).to.throw(LogCorrupt, 'record 6');
      });

      it('refuses a newer format, naming both versions', async () => {
        const log = await device.open();
        expect(await log.start(started(1, 7))).to.equal('durable');
        expect(() => all(log))
          .to.throw(LogError, /format version 7.*version 1/)
          .with.property('code', 'LOG_FORMAT_NEWER');
      });
    });

    describe('removing records', () => {
      /** Records 1..30 in groups of three, with every task whose number ends in `digit` removed. */
      async function sifted(digits: string): Promise<Log> {
        const log = await filled(1);
        for (let from = 2; from <= 30; from += 3) {
          expect(await log.append(group(from, from + 2))).to.equal('durable');
        }
        for (const segment of log.sealed()) {
          const keep = ({ seq }: LogRecord) => !digits.includes(String(seq).at(-1) as string);
          await log.rewrite(segment, keep);
        }
        return log;
      }
      const kept = (digits: string, sealedTo: number, last: number) =>
        upTo(last).filter(
          (seq) => seq > sealedTo || !digits.includes(String(seq).at(-1) as string),
        );

      if (!seals) {
        it('has nothing to remove from while nothing is sealed', async () => {
          expect((await filled(30)).sealed()).to.deep.equal([]);
        });
        return;
      }

      it('leaves the rest, and declares what is gone', async () => {
        const log = await sifted('345');
        const sealedTo = log.sealed().at(-1)?.last ?? 0;
        expect(sealedTo).to.be.greaterThan(15);
        const expected = kept('345', sealedTo, log.lastNumber);
        for (const open of [log, await device.open()]) {
          expect(numbers(all(open))).to.deep.equal(expected);
          expect(numbers(all(open, 4, 16))).to.deep.equal(expected.filter((n) => n > 3 && n < 17));
          expect(open.get(4)).to.equal(undefined);
          expect(open.get(6)?.seq).to.equal(6);
          expect(open.dropped.has(13)).to.equal(true);
          expect(open.dropped.ranges[0]).to.deep.equal([3, 5]);
        }
        expect(await log.append([created(log.lastNumber + 1)])).to.equal('durable');
      });

      it('can be repeated, and can remove all', async () => {
        const log = await sifted('3');
        const sealed = log.sealed();
        const keep = ({ seq }: LogRecord) => !'34'.includes(String(seq).at(-1) as string);
        let removed = 0;
        for (const segment of sealed) removed += await log.rewrite(segment, keep);
        expect(removed).to.equal(3 - (log.dropped.has(24) ? 0 : 1));
        for (const segment of sealed) expect(await log.rewrite(segment, keep)).to.equal(0);
        for (const segment of sealed) await log.rewrite(segment, () => false);
        const sealedTo = sealed.at(-1)?.last ?? 0;
        expect(log.dropped.ranges).to.deep.equal([[1, sealedTo]]);
        expect(numbers(all(log))[0]).to.equal(sealedTo + 1);
        expect(numbers(all(await device.open()))[0]).to.equal(sealedTo + 1);
      });

      it('goes on reading while records vanish', async () => {
        const log = await sifted('');
        const seen: number[] = [];
        for (const { seq } of log.read(1)) {
          seen.push(seq);
          if (seq !== 1) continue;
          for (const segment of log.sealed()) {
            await log.rewrite(segment, ({ seq: n }) => n % 2 === 1);
          }
        }
        expect(seen).to.include.members(upTo(log.lastNumber).filter((n) => n % 2 === 1));
        expect(numbers(all(log)).length).to.be.lessThan(log.lastNumber);
      });

      it('refuses to rewrite damage away', async () => {
        await (await sifted('')).close();
        await device.damage(5, (bytes) => bytes.map((b, i) => (i === 4 ? b ^ 1 : b)));
        const log = await device.open();
        const holding = log.sealed().find(({ first, last }) => first <= 5 && 5 <= last);
        let told: unknown;
        await log
          .rewrite(holding as never, ({ seq }) => seq !== 4)
          .catch((error: unknown) => {
            told = error;
          });
        expect(told).to.be.instanceOf(LogCorrupt).with.property('seq', 5);
        expect(log.get(4)?.seq).to.equal(4);
      });
    });

    describe('a restored log', () => {
      it('goes on after a gap that it declares', async () => {
        const log = await filled(3);
        expect(await log.start(started(1_000_004))).to.equal('durable');
        expect(await log.append([created(1_000_005)])).to.equal('durable');
        for (const open of [log, await device.open()]) {
          expect(open.dropped.ranges).to.deep.equal([[4, 1_000_003]]);
          expect([4, 500, 1_000_003].every((seq) => open.dropped.has(seq))).to.equal(true);
          expect([3, 1_000_004].some((seq) => open.dropped.has(seq))).to.equal(false);
          expect(numbers(all(open))).to.deep.equal([1, 2, 3, 1_000_004, 1_000_005]);
          expect(numbers(all(open, 700))).to.deep.equal([1_000_004, 1_000_005]);
          expect(open.get(700)).to.equal(undefined);
          expect(open.lastNumber).to.equal(1_000_005);
          expect(open.skippedBefore(1_000_004)).to.equal(1_000_000);
          for (const seq of [1, 3, 4, 700, 1_000_003, 1_000_005, 1_000_006]) {
            expect(open.skippedBefore(seq), `before ${seq}`).to.equal(0);
          }
        }
      });

      it('is not appended to by a writer of the log before', async () => {
        const stale = await filled(3);
        const restored = await device.open();
        expect(await restored.start(started(8))).to.equal('durable');
        // The group would end beyond the gap: without a mark at number 4 part of it would pass.
        expect(await stale.append(group(4, 12, 'stale'))).to.equal('fenced');
        await restored.reopen();
        expect(numbers(all(restored))).to.deep.equal([1, 2, 3, 8]);
      });
    });
  });
}
