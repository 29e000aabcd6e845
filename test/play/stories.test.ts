// Plays every story and every experiment in memory, and holds it to what it is about (records and
// answers), and the pages docs/TWICE.md and docs/WHY-NOT-KAFKA.md to what is told. The pages were
// made with processes and without waiting at the questions, so the comparison shows that neither
// the processes nor the thinking changes anything.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { recordLine } from '../../src/model/record-line.ts';
import { EXPERIMENTS } from '../../src/play/experiments.ts';
import { STORIES } from '../../src/play/stories.ts';
import { SAID_OF_MOST, type Transcript, transcribe } from '../../src/play/twice-page.ts';
import { blocksOf, fillBlock } from '../../src/play/why-not-page.ts';
import { MemoryStage } from '../support/memory-stage.ts';
import { EXPERIMENTS_LEAD_TO, STORIES_LEAD_TO, tellToSlowLearner } from './stories.ts';
import { lettersOf, toldOf, unwritten } from './told.ts';

const OTHERS = {
  kafka: ['one-slow-task', 'one-task-fails', 'lost-claim', 'more-workers', 'read-again'],
  redis: ['one-slow-task', 'who-has-it', 'lost-claim'],
};
const pageOf = (name: string): string =>
  readFileSync(path.join(process.cwd(), 'docs', name), 'utf8');

describe('stories', () => {
  const played = new Map<string, Transcript>();
  const page = pageOf('TWICE.md');

  before(async () => {
    for (const story of STORIES) {
      played.set(story.name, await tellToSlowLearner(story, MemoryStage.open));
    }
  });

  it('are the twelve that are expected', () => {
    const expected = Object.keys(STORIES_LEAD_TO).toSorted();
    expect(STORIES.map(({ name }) => name).toSorted()).deep.equal(expected);
  });

  for (const [name, [records, answers]] of Object.entries(STORIES_LEAD_TO)) {
    it(`${name} leads to the records and answers that it is about`, () => {
      const transcript = played.get(name) as Transcript;
      expect(lettersOf(transcript)).equal(records);
      expect(transcript.answers.join(', ')).equal(answers);
    });

    it(`${name} stands in docs/TWICE.md as it is told today`, () => {
      const transcript = played.get(name) as Transcript;
      expect(page).include(`## ${transcript.story.title}\n`);
      expect(unwritten(page, transcript)).deep.equal([]);
    });
  }
});

describe('docs/TWICE.md', () => {
  for (const statement of SAID_OF_MOST) {
    it(`says once what is said of most tasks: ${statement} …`, () => {
      expect(pageOf('TWICE.md').split(`  - ${statement}`)).length(2);
    });
  }
});

describe('docs/WHY-NOT-KAFKA.md', () => {
  const played = new Map<string, Transcript>();
  const page = pageOf('WHY-NOT-KAFKA.md');
  const blocks = blocksOf(page, 'leasehold');

  before(async () => {
    for (const one of EXPERIMENTS) {
      played.set(one.name, await transcribe(one, recordLine, MemoryStage.open));
    }
  });

  it('shows every experiment that can be played, and no other', () => {
    const names = EXPERIMENTS.map(({ name }) => name).toSorted();
    expect(names).deep.equal(Object.keys(EXPERIMENTS_LEAD_TO).toSorted());
    expect([...blocks.keys()].toSorted()).deep.equal(names);
  });

  for (const [name, [records, answers]] of Object.entries(EXPERIMENTS_LEAD_TO)) {
    it(`${name} leads to the records and answers that it is about`, () => {
      const transcript = played.get(name) as Transcript;
      expect(lettersOf(transcript)).equal(records);
      expect(transcript.answers.join(', ')).equal(answers);
    });

    it(`${name} is told as it stands on the page`, () => {
      const { lines } = played.get(name) as Transcript;
      const written = toldOf((blocks.get(name) as string).split('\n'));
      expect(toldOf(lines.slice(2))).deep.equal(written);
    });
  }

  for (const [side, names] of Object.entries(OTHERS)) {
    it(`has what ${side} was seen to do`, () => {
      const found = blocksOf(page, side);
      expect([...found.keys()].toSorted()).deep.equal(names.toSorted());
      for (const [name, text] of found) expect(text.trim(), name).not.equal('');
    });
  }
});

describe('a page with blocks', () => {
  const page = 'a\n<!-- us: one -->\n```\nold\n```\nb\n<!-- us: two -->\n```\n```\n';

  it('gets what was played into the block of that name', () => {
    const filled = fillBlock(fillBlock(page, 'us', 'one', ['$& new']), 'us', 'two', ['x', '']);
    expect(Object.fromEntries(blocksOf(filled, 'us'))).deep.equal({ one: '$& new\n', two: 'x\n' });
    expect(filled.startsWith('a\n<!-- us: one -->') && filled.includes('\nb\n')).equal(true);
  });

  it('is refused when it has no such block, or two', () => {
    expect(() => fillBlock(page, 'them', 'one', [])).to.throw('0 blocks');
    expect(() => fillBlock(page + page, 'us', 'one', [])).to.throw('2 blocks');
  });
});
