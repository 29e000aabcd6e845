// The screen and the keys of `top`: pure functions, on any size of terminal.

import { expect } from 'chai';
import fc from 'fast-check';
import type { Fields } from '../../src/cli/overview-table.ts';
import { widthOf } from '../../src/cli/table.ts';
import { type Shown, screen, storyLines } from '../../src/cli/top/screen.ts';
import { FIRST_VIEW, press, type View, type Wish } from '../../src/cli/top/view.ts';

const NOW = 1_700_000_000_000;

const queue = (name: string): Fields => ({
  queue: name,
  ...{ waiting: 1, delayed: 0, leased: 0, eligible: 1, oldest_waiting_ms: 5, parked_requests: 0 },
});
const worker = (name: string): Fields => ({ worker_id: name, active_leases: 1, leases: ['L9'] });
const task = (id: number): Fields => ({
  ...{ task_id: `T${id}`, state: 'WAITING', queue: 'q', attempt: 0, created_at: NOW },
});

const shownOf = (queues: number, workers: number, more = 0): Shown => ({
  url: 'http://127.0.0.1:5327',
  stats: { tasks: { WAITING: 3 }, lease_expirations: 0, late_reports: 0, mode: 'serving' },
  queues: Array.from({ length: queues }, (_, n) => queue(`queue-${n}-${'x'.repeat(n % 90)}`)),
  workers: Array.from({ length: workers }, (_, n) => worker(`عامل-${n}-${'日'.repeat(n % 60)}`)),
  moreQueues: more,
  moreWorkers: 0,
  now: NOW,
  since: NOW - 5_000,
  notice: '',
});
const STANDARD = { columns: 80, rows: 24 };
const LINES = storyLines(STANDARD);

function after(keys: readonly string[], shown: Shown, view: View = FIRST_VIEW) {
  let wish: Wish | undefined;
  for (const key of keys) ({ view, wish } = press(view, key, shown, LINES));
  return { view, wish };
}

describe('the screen of top', () => {
  it('has 22 lines of 80 columns at most on 80 × 24, and fits any other', () => {
    const size = fc.record({
      columns: fc.integer({ min: 20, max: 250 }),
      rows: fc.integer({ min: 14, max: 80 }),
    });
    const count = fc.integer({ min: 0, max: 100 });
    fc.assert(
      fc.property(size, count, count, count, (given, queues, workers, selected) => {
        const shown = shownOf(queues, workers, 7);
        for (const each of [given, STANDARD]) {
          const lines = screen(shown, { ...FIRST_VIEW, selected }, each);
          expect(lines).to.have.length.at.most(each.rows - 2);
          for (const line of lines) expect(widthOf(line), line).to.be.at.most(each.columns);
        }
      }),
      { numRuns: 50 },
    );
  });

  it('shows the selected row wherever it is, and says how much is not shown', () => {
    const shown = shownOf(40, 30, 1_000);
    for (let selected = 0; selected < 70; selected += 1) {
      const text = screen(shown, { ...FIRST_VIEW, selected }, STANDARD).join('\n');
      const name = selected < 40 ? `queue-${selected}-` : `عامل-${selected - 40}-`;
      expect(text).to.match(new RegExp(`^> ${name}`, 'm'));
      expect(text)
        .to.match(/^ {2}10\d\d more queues$/m)
        .and.to.match(/^ {2}2\d more workers$/m);
    }
  });

  it('says of one row that is not shown that it is one', () => {
    const text = screen(shownOf(1, 1, 1), FIRST_VIEW, STANDARD).join('\n');
    expect(text).to.match(/^ {2}1 more queue$/m);
  });

  it('gives the room that queues do not need to workers, and the other way round', () => {
    const fewQueues = screen(shownOf(1, 30), FIRST_VIEW, STANDARD);
    expect(fewQueues.filter((line) => /عامل/.test(line)).length).to.be.greaterThan(9);
    const fewWorkers = screen(shownOf(30, 1), FIRST_VIEW, STANDARD);
    expect(fewWorkers.filter((line) => /queue-/.test(line)).length).to.be.greaterThan(9);
    expect(screen(shownOf(0, 0), FIRST_VIEW, STANDARD).join('\n'))
      .to.include('no queue holds a task')
      .and.to.include('no worker is known');
  });

  it('says what is amiss', () => {
    const shown = { ...shownOf(1, 1), notice: 'no answer for 5s; trying again.' };
    expect(screen(shown, FIRST_VIEW, STANDARD)[2]).to.equal(shown.notice);
    const halted = { ...shown, stats: { ...shown.stats, mode: 'read-only' } };
    expect(screen(halted, FIRST_VIEW, STANDARD)[0]).to.include('read-only');
  });
});

describe('the keys of top', () => {
  const shown = shownOf(3, 2);

  it('quit from anywhere', () => {
    for (const keys of [['q'], ['ctrl-c'], ['t', 'ctrl-c'], ['t', '1', 'ctrl-c']]) {
      expect(after(keys, shown).wish).to.deep.equal({ kind: 'quit' });
    }
  });

  it('go through the orders and round again', () => {
    const sorts: string[] = [];
    let { view } = after([], shown);
    for (let n = 0; n < 8; n += 1) {
      const next = after(['s'], shown, view);
      expect(next.wish).to.deep.equal({ kind: 'refresh' });
      ({ view } = next);
      sorts.push(view.queueSort);
    }
    expect(new Set(sorts).size).to.equal(7);
    expect(sorts[7]).to.equal(sorts[0]);
    expect(after(['w', 'w', 'w'], shown).view.workerSort).to.equal('seen');
  });

  it('choose a row within the rows that there are, and open it', () => {
    expect(after(['up'], shown).view.selected).to.equal(0);
    expect(after(['down', 'return'], shown).wish).to.include({ kind: 'queue' });
    const last = after(Array(9).fill('down'), shown).view;
    expect(last.selected).to.equal(4);
    expect(after(['return'], shown, last).wish).to.deep.include({ kind: 'worker', leases: ['L9'] });
    expect(after(['down', 'return'], shownOf(0, 0)).wish).to.equal(undefined);
  });

  it('choose a task, read its story, and come back step by step', () => {
    const tasks = { title: 'tasks', rows: [task(2), task(5)], selected: 0 };
    const chosen = after(['j', 'return'], shown, { ...FIRST_VIEW, tasks });
    expect(chosen.wish).to.deep.equal({ kind: 'story', taskId: 'T5' });
    const lines = Array.from({ length: 50 }, (_, n) => `line ${n}`);
    const reading = { ...chosen.view, story: { taskId: 'T5', lines, first: 0 } };
    const end = after(['pagedown', 'pagedown', 'pagedown', 'pagedown'], shown, reading).view;
    const page = screen(shown, end, STANDARD);
    expect(page[0]).to.equal(`explain T5: lines ${50 - LINES + 1} to 50 of 50`);
    expect(page.at(-2)).to.equal('line 49');
    expect(after(['pageup', 'home', 'up'], shown, end).view.story?.first).to.equal(0);
    const back = after(['escape'], shown, end).view;
    expect(back.story).to.equal(undefined);
    expect(back.tasks?.selected).to.equal(1);
    expect(after(['escape'], shown, back).view.tasks).to.equal(undefined);
  });

  it('take the number of a task, and drop it at Esc', () => {
    const typed = after(['t', '4', 'x', '2', 'backspace', '7'], shown).view;
    expect(screen(shown, typed, STANDARD).at(-1)).to.include('explain task T47_');
    expect(after(['return'], shown, typed).wish).to.deep.equal({ kind: 'story', taskId: 'T47' });
    expect(after(['escape'], shown, typed)).to.deep.include({ wish: undefined });
    expect(after(['t', 'return'], shown).wish).to.equal(undefined);
  });
});
