// Plays leasehold's part of docs/WHY-NOT-KAFKA.md with real processes, and holds the experiments to
// what they are about and the page to what is told. The other side's part is not played here: that
// it stands there, and names what can be played, is all that is asked.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { recordLine } from '../../src/model/record-line.ts';
import { EXPERIMENTS } from '../../src/play/experiments.ts';
import { type Transcript, transcribe } from '../../src/play/twice-page.ts';
import { blocksOf, fillBlock } from '../../src/play/why-not-page.ts';
import { lettersOf, toldOf } from './told.ts';

const DONE = 'COMMITTED COMPLETED';

/** Records and answers, as in stories.test.ts. */
const EXPECTED: Readonly<Record<string, readonly [records: string, answers: string]>> = {
  'one-slow-task': ['C C C C G G D X G D X G D X D', [DONE, DONE, DONE, DONE].join(', ')],
  'one-task-fails': [
    'C C G F G D G F C G D',
    ['COMMITTED WAITING', DONE, 'COMMITTED FAILED', DONE].join(', '),
  ],
  'who-has-it': ['C G E G D', DONE],
  'lost-claim': ['C G E G N D', `CANCELLED lease_superseded, ${DONE}`],
  'more-workers': ['C C C C C G G G G G D D D D D', Array(5).fill(DONE).join(', ')],
  'read-again': ['C G D C G D', `${DONE}, ${DONE}`],
};
const OTHERS = {
  kafka: ['one-slow-task', 'one-task-fails', 'lost-claim', 'more-workers', 'read-again'],
  redis: ['one-slow-task', 'who-has-it', 'lost-claim'],
};

describe('docs/WHY-NOT-KAFKA.md', function () {
  this.timeout(300_000);
  const played = new Map<string, Transcript>();
  const page = readFileSync(path.join(process.cwd(), 'docs', 'WHY-NOT-KAFKA.md'), 'utf8');
  const blocks = blocksOf(page, 'leasehold');

  before(async () => {
    const left = [...EXPERIMENTS];
    const play = async (): Promise<void> => {
      for (let one = left.shift(); one !== undefined; one = left.shift()) {
        played.set(one.name, await transcribe(one, recordLine));
      }
    };
    await Promise.all([play(), play(), play()]);
  });

  it('shows every experiment that can be played, and no other', () => {
    const names = EXPERIMENTS.map(({ name }) => name).toSorted();
    expect(names).deep.equal(Object.keys(EXPECTED).toSorted());
    expect([...blocks.keys()].toSorted()).deep.equal(names);
  });

  for (const [name, [records, answers]] of Object.entries(EXPECTED)) {
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
