// The structures under the state, each against a plain model that is obviously right.

import { expect } from 'chai';
import fc from 'fast-check';
import { WideColumn } from '../../src/core/columns.ts';
import { type Digest, DigestIndex } from '../../src/core/digest-index.ts';
import { Heap } from '../../src/core/heap.ts';
import { IdDirectory } from '../../src/core/id-directory.ts';
import { Queue } from '../../src/core/queue.ts';
import { NONE, TaskTable } from '../../src/core/task-table.ts';
import { InvariantBroken } from '../../src/model/assert.ts';
import { Random } from '../simulator/random.ts';

describe('heap', () => {
  it('gives its items in order, whatever moved or left', () => {
    const step = fc.record({ key: fc.nat(50), change: fc.constantFrom('add', 'remove', 'move') });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const heap = new Heap<{ key: number; serial: number; place: number }>((a, b) =>
          a.key === b.key ? a.serial < b.serial : a.key < b.key,
        );
        const items: { key: number; serial: number; place: number }[] = [];
        for (const [serial, { key, change }] of steps.entries()) {
          const victim = items[key % (items.length || 1)];
          if (change === 'add' || victim === undefined) {
            const item = { key, serial, place: 0 };
            items.push(item);
            heap.add(item);
          } else if (change === 'remove') {
            items.splice(items.indexOf(victim), 1);
            heap.remove(victim);
          } else {
            victim.key = key;
            heap.moved(victim);
          }
          const least = items.toSorted((a, b) => a.key - b.key || a.serial - b.serial)[0];
          expect(heap.first).to.equal(least);
          expect(heap.size).to.equal(items.length);
        }
      }),
    );
  });
});

describe('id directory', () => {
  it('finds what was added and not removed, and lists it in order from anywhere', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 1, max: 3_000 }), fc.boolean()), { maxLength: 300 }),
        fc.nat(100_000),
        (steps, after) => {
          const ids: number[] = [];
          const directory = new IdDirectory((row) => ids[row] as number);
          const model = new Map<number, number>();
          let id = 0;
          for (const [gap, remove] of steps) {
            id += gap;
            ids.push(id);
            directory.add(id, ids.length - 1);
            model.set(id, ids.length - 1);
            if (remove) {
              const victim = [...model.keys()][gap % model.size] as number;
              directory.remove(victim);
              model.delete(victim);
              expect(directory.find(victim)).to.equal(-1);
            }
          }
          for (const [known, row] of model) expect(directory.find(known)).to.equal(row);
          const listed = [...directory.rowsAfter(after)];
          const wanted = [...model].filter(([known]) => known > after).map(([, row]) => row);
          expect(listed).to.deep.equal(wanted);
        },
      ),
    );
  });
});

describe('digest index', () => {
  it('finds every row that was added and not removed, also when digests crowd together', () => {
    const word = fc.constantFrom(0, 1, 2, 1_024, 0xffff_ffff);
    const digest = fc.tuple(word, word, word, word);
    const step = fc.record({ digest, remove: fc.boolean(), pick: fc.nat() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const index = new DigestIndex();
        const model = new Map<string, number>();
        let rows = 0;
        for (const { digest: words, remove, pick } of steps) {
          const key = words.join(' ');
          if (!model.has(key)) {
            index.add(words, rows, words);
            model.set(key, rows);
            rows += 1;
          }
          if (remove) {
            const [victim, row] = [...model][pick % model.size] as [string, number];
            index.removeIfPresent(row);
            model.delete(victim);
            expect(index.find(victim.split(' ').map(Number) as unknown as Digest)).to.equal(-1);
          }
        }
        expect(index.size).to.equal(model.size);
        for (const [known, row] of model) {
          const words = known.split(' ').map(Number) as unknown as Digest;
          expect(index.find(words)).to.equal(row);
          expect(index.hasContent(row, words)).to.equal(true);
          expect(index.digestAt(row)).to.deep.equal([...words, ...words]);
          for (const place of [0, 1, 2, 3]) {
            const other = words.with(place, (words[place] as number) ^ 1) as unknown as Digest;
            expect(index.hasContent(row, other), `word ${place}`).to.equal(false);
          }
        }
      }),
    );
  });
});

describe('digest index, grown', () => {
  it('finds each of many rows, and after half of them left', () => {
    const index = new DigestIndex();
    const dice = new Random(3, 'digests');
    const ROWS = 50_000;
    const digests = Array.from({ length: ROWS }, (): Digest => {
      return [dice.next(), dice.next(), dice.next(), dice.next()];
    });
    for (const [row, digest] of digests.entries()) index.add(digest, row, digest);
    for (let row = 0; row < ROWS; row += 2) index.removeIfPresent(row);
    expect(index.size).to.equal(ROWS / 2);
    for (const [row, digest] of digests.entries()) {
      expect(index.find(digest)).to.equal(row % 2 === 0 ? -1 : row);
    }
  });
});

describe('wide column', () => {
  it('keeps every number below 2^48, and refuses the next', () => {
    const column = new WideColumn();
    expect(column.get(3)).to.equal(0);
    fc.assert(
      fc.property(fc.nat(40_000), fc.maxSafeNat(), (row, number) => {
        const value = number % 2 ** 48;
        column.set(row, value);
        expect(column.get(row)).to.equal(value);
      }),
    );
    for (const value of [2 ** 32 - 1, 2 ** 32, 2 ** 48 - 1]) {
      column.set(7, value);
      expect(column.get(7)).to.equal(value);
    }
    expect(() => column.set(7, 2 ** 48)).to.throw(InvariantBroken);
    expect(column.get(7)).to.equal(2 ** 48 - 1);
  });
});

describe('queue', () => {
  const step = fc.record({
    what: fc.constantFrom('append', 'delay', 'take', 'remove'),
    later: fc.integer({ min: 1, max: 20 }),
    pick: fc.nat(),
    passes: fc.nat(3),
  });

  it('leases by (eligible_at, place) as a sorted list would', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const table = new TaskTable();
        const queue = new Queue('q');
        let waiting: { row: number; eligibleAt: number; place: number }[] = [];
        let now = 1;
        for (const [index, { what, later, pick, passes }] of steps.entries()) {
          now += passes;
          const place = index + 1;
          const first = waiting.toSorted(
            (a, b) => a.eligibleAt - b.eligibleAt || a.place - b.place,
          )[0];
          const due = first !== undefined && first.eligibleAt <= now ? first.row : NONE;
          expect(queue.firstEligible(table, now)).to.equal(due);
          const eligible = waiting.filter((task) => task.eligibleAt <= now).length;
          expect(queue.eligible(table, now)).to.equal(eligible);
          if (what === 'append' || what === 'delay') {
            const row = table.add(place, 0);
            const eligibleAt = what === 'append' ? now : now + later;
            table.setWaiting(row, eligibleAt, place);
            if (what === 'append') queue.append(table, row);
            else queue.delay(table, row);
            waiting.push({ row, eligibleAt, place });
          } else {
            const other = waiting[pick % (waiting.length || 1)]?.row;
            const victim = what === 'take' ? due : other;
            if (victim === undefined || victim === NONE) continue;
            const before = waiting.filter((task) => {
              const own = waiting.find((each) => each.row === victim);
              if (own === undefined || task === own) return false;
              return task.eligibleAt - own.eligibleAt || task.place - own.place
                ? task.eligibleAt < own.eligibleAt ||
                    (task.eligibleAt === own.eligibleAt && task.place < own.place)
                : false;
            }).length;
            expect(queue.ahead(table, victim, 1_000)).to.equal(before);
            const limit = passes + 1;
            expect(queue.ahead(table, victim, limit)).to.equal(Math.min(before, limit));
            queue.remove(table, victim);
            table.remove(victim);
            waiting = waiting.filter((task) => task.row !== victim);
          }
        }
      }),
    );
  });
});

describe('task table', () => {
  it('finds no task under 0, after a row was found and forgotten either', () => {
    const table = new TaskTable();
    const row = table.add(7, 0);
    expect(table.find(0)).to.equal(NONE);
    expect(table.find(7)).to.equal(row);
    table.remove(row);
    expect(table.find(7)).to.equal(NONE);
    expect(table.find(0)).to.equal(NONE);
  });
});
