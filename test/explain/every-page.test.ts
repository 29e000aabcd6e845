// Holds every page to what a careful reader needs of it, whatever the story: all its parts, the
// order of time, records behind each sentence, nothing cut, and one name for one thing.

import { expect } from 'chai';
import { explain, type TaskStory } from '../../src/explain/explain-task.ts';
import type { ExplainedRecord, Explanation } from '../../src/explain/explanation.ts';
import { explanationJson } from '../../src/explain/page-json.ts';
import { explanationSvg } from '../../src/explain/page-svg.ts';
import { explanationText } from '../../src/explain/page-text.ts';
import { Story } from '../core/story-builder.ts';
import { stories } from './explain-stories.ts';

/** A page on one line, so that a sentence is found wherever it was wrapped. */
const flat = (told: Explanation, columns?: number): string =>
  explanationText(told, columns).replace(/\s+/g, ' ');

const LETTERS: Readonly<Record<string, string>> = {
  'NONE TaskCreated WAITING': 'a',
  'WAITING LeaseGranted LEASED': 'b',
  'WAITING TaskCancelled WAITING': 'c',
  'WAITING TaskDead DEAD': 'd',
  'LEASED LeaseExtended LEASED': 'e',
  'LEASED LeaseExpired WAITING': 'f',
  'LEASED TaskCompleted COMPLETED': 'g',
  'LEASED TaskFailed WAITING': 'h',
  'LEASED TaskFailed FAILED': 'i',
  'LEASED TaskCancelled LEASED': 'j',
  'LEASED TaskDead DEAD': 'k',
  'COMPLETED TaskCancelled COMPLETED': 'l',
  'FAILED TaskCancelled FAILED': 'm',
  'DEAD TaskCancelled DEAD': 'n',
};

describe('every page of explain', () => {
  for (const [name, story] of Object.entries(stories)) {
    const told = explain(story());

    it(`has all parts: ${name}`, () => {
      const titles = explanationText(told)
        .split('\n')
        .filter((line) => /^(Records|Attempts|Why|At the same time|Effects|Now)\b/.test(line));
      const parts = ['Records', 'Attempts', 'Why', 'At the same time', 'Effects', 'Now'];
      const wanted = parts.filter((part) => part !== 'Attempts' || told.attempts.length > 0);
      expect(titles.map((title) => title.replace(/ \(.*/, ''))).deep.equal(wanted);
      expect(flat(told))
        .match(/Who may be at work: /)
        .and.match(/Budget: max_retries is \d+/);
      for (const topic of ['overlap', 'effect'] as const) {
        expect(told.statements.some((statement) => statement.topic === topic)).equal(true);
      }
      // Why the first attempt began when it did, or that none began.
      expect(told.statements.some(({ topic }) => topic === 'cause')).equal(true);
    });

    it(`says what words and numbers mean that could be misread: ${name}`, () => {
      const page = flat(told);
      expect(page).include('`leasehold log --from N` shows those that are not on this page.');
      expect(page.includes('(advisory)')).equal(page.includes('Where it says (advisory),'));
      for (const { type, kind, after, text } of told.records) {
        if (type === 'TaskCancelled') {
          expect(text).match(/^late report: /);
          expect(page).include(`TaskCancelled; the task stays ${after}`);
        }
        if (kind !== 'released') continue;
        expect(text).match(/^given back: /);
        expect(page).include(`TaskFailed as given back → ${after}`);
      }
      const starts = told.starts.length + told.startsLeftOut;
      const besides = `besides ${starts} start${starts === 1 ? '' : 's'} of the coordinator.`;
      expect(page.includes('of the coordinator. Numbers in brackets')).equal(starts > 0);
      if (starts > 0) expect(page).include(besides);
    });

    it(`tells why in the order of time, and from records: ${name}`, () => {
      const order = told.statements.flatMap(({ record }) => (record === undefined ? [] : [record]));
      expect(order).deep.equal(order.toSorted((a, b) => a - b));
      for (const { text, records } of [...told.now.facts, told.now.next]) {
        expect(records.length > 0 || text.includes('(advisory)'), text).equal(true);
        expect(records).deep.equal(records.toSorted((a, b) => a - b));
      }
    });

    it(`cuts no name, reason or time: ${name}`, () => {
      const text = flat(told, 60);
      for (const record of told.records) {
        if (!isFolded(record, told)) expect(text).include(record.text.replace(/\s+/g, ' '));
      }
      for (const statement of told.statements) expect(text).include(statement.text);
    });

    it(`calls a thing by one name: ${name}`, () => {
      for (const { type, before, after, letter, text } of told.records) {
        expect(letter).equal(LETTERS[`${before} ${type} ${after}`]);
        if (type === 'TaskCancelled') expect(text).match(/^late report: /);
        expect(text).not.match(/failed \(released\)/);
      }
      const back = told.attempts.filter(({ ended }) => ended === 'released');
      for (const { endRecord } of back) {
        expect(told.records.find(({ seq }) => seq === endRecord)?.text).match(/^given back: /);
      }
    });

    it(`says the same in JSON and SVG: ${name}`, () => {
      const json = JSON.parse(explanationJson(told)) as { statements: { text: string }[] };
      expect(json.statements.map(({ text }) => text)).deep.equal(
        told.statements.map(({ text }) => text),
      );
      const words = explanationSvg(told)
        .replaceAll('&lt;', '<')
        .replaceAll('&gt;', '>')
        .replaceAll('&quot;', '"')
        .replaceAll('&amp;', '&');
      for (const { text } of [...told.statements, ...told.now.facts]) expect(words).include(text);
    });
  }

  it('has no more rules than there are letters for', () => {
    expect(Object.keys(LETTERS)).length(14);
  });

  it('explains every mark that it draws', () => {
    const marks = /[├♥┤✓✗↩†·!▶░▲⋮]/gu;
    const seen = new Set<string>();
    for (const [name, story] of Object.entries(stories)) {
      const page = explanationText(explain(story()));
      const chart = /^Attempts\n(.*?)\n\n {2}(.*?)\n\nWhy/ms.exec(page);
      if (chart === null) continue;
      const [, rows = '', legend = ''] = chart;
      const drawn = new Set(rows.split('\n').flatMap((row) => row.slice(21).match(marks) ?? []));
      for (const mark of drawn) {
        seen.add(mark);
        expect(legend, name).include(`${mark} `);
      }
      if (page.includes('\n   ⋮')) expect(page, name).match(/^ {2}⋮ {2}the records from/m);
    }
    expect([...seen].join('')).length(12);
  });

  it('adds up the effects of a task and its redrive', () => {
    const names = ['redrive-after-all-had-reported', 'redrive-beside-the-origin'];
    const sums = names.map((name) => {
      const told = explain((stories[name] as () => TaskStory)());
      return /: (T\d+ and T\d+) together may have had the effect up to (\d) times/.exec(flat(told));
    });
    expect(sums.map((sum) => sum?.[1])).deep.equal(['T12 and T42', 'T12 and T42']);
    expect(sums.map((sum) => Number(sum?.[2]))).deep.equal([2, 3]);
  });

  it('folds no heartbeats over a start, and names the first and the last', () => {
    const page = flat(explain((stories['heartbeats-before-and-after-a-start'] as StoryOf)()));
    expect(page).include('5 heartbeats: from record 45 at 12:00:03.000 to record 49 at');
    expect(page).include('5 heartbeats: from record 53 at 12:00:12.000 to record 57 at');
  });

  it('takes a kill for a kill whose reason begins like that of the poison rule', () => {
    const story = new Story().grant(1, 'w1').expire().kill(34, 'poison: 1 address is wrong');
    const page = flat(explain(story.told(60)));
    expect(page).to.include('was killed').and.not.to.include('by the poison rule');
  });

  it('tells of a restore and of the start after it, when a lease ran out after both', () => {
    const story = new Story().grant(1, 'w1').heartbeat(4).restore(8).start(9).expire().told(60);
    const page = flat(explain(story));
    const lost = 'so what came after record 44 is lost, heartbeats too';
    expect(page.indexOf(lost)).within(0, page.indexOf('the coordinator started anew meanwhile'));
  });

  it('takes no reason that somebody gave for its own word', () => {
    const story = new Story().grant(1, 'w1').fail(3, 'busy (advisory)', 8);
    expect(flat(explain(story.told(4)))).not.to.include('Where it says (advisory)');
  });

  it('rounds "at most" up', () => {
    const page = flat(explain(new Story().grant(1, 'w1').start(4.201).told(5)));
    expect(page).include('down for 3.3 s at most').and.include('for 3.3 s at most');
  });

  it('draws as wide as it may, and no wider', () => {
    const told = explain((stories['worker-killed'] as StoryOf)());
    for (const columns of [60, 80, 120, 200]) {
      const widest = Math.max(
        ...explanationText(told, columns)
          .split('\n')
          .map((line) => [...line].length),
      );
      expect(widest).within(columns - 12, columns);
    }
    expect(explanationText(told, 1)).equal(explanationText(told, 60));
    expect(explanationText(told)).equal(explanationText(told, 80));
  });

  it('gives equal evidence equal certainty, within a task and between two', () => {
    const certainty = (name: string): string[] =>
      explain((stories[name] as StoryOf)()).overlaps.map((overlap) => overlap.certainty);
    expect(certainty('one-name-at-two-leases')).deep.equal(['did']);
    expect(certainty('killed-and-late-while-the-heir-was-held')).deep.equal(['did']);
    expect(certainty('worker-killed')).deep.equal(['may']);
    expect(certainty('redrive-beside-the-origin')).deep.equal(['may']);
    expect(certainty('grant-nobody-received')).deep.equal(['unknown']);
    expect(certainty('redrive-after-all-had-reported')).deep.equal([]);
  });
});

type StoryOf = (typeof stories)[string];

/** Only rows of many heartbeats are folded. */
const isFolded = ({ type }: ExplainedRecord, { records }: Explanation): boolean =>
  type === 'LeaseExtended' && records.filter((record) => record.type === type).length > 4;
