// Plays every story with real processes, and holds it to what it is about (records and answers),
// and the page docs/TWICE.md to what is told. The learner here thinks longer than any lease lasts:
// every question is answered only when the story has been played to its end. The page was made
// without waiting at the questions, so the comparison shows that thinking changes nothing.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { recordLine } from '../../src/model/record-line.ts';
import { runStory, type Story } from '../../src/play/run-story.ts';
import { STORIES } from '../../src/play/stories.ts';
import { Telling } from '../../src/play/telling.ts';
import type { Transcript } from '../../src/play/twice-page.ts';
import { lettersOf, toldOf } from './told.ts';

/** The log without starts, and the outcomes of the reports. X: any number of extensions. */
const EXPECTED: Readonly<Record<string, readonly [records: string, answers: string]>> = {
  'worker-killed': ['C G X E G D', 'COMMITTED COMPLETED'],
  'worker-frozen-and-woken': ['C G X E G N D', 'CANCELLED lease_superseded, COMMITTED COMPLETED'],
  'grant-nobody-received': ['C G E G D', 'COMMITTED COMPLETED'],
  'heartbeats-cut-off': ['C G X E G N D', 'CANCELLED lease_superseded, COMMITTED COMPLETED'],
  'window-reached': ['C G X E G D', 'COMMITTED COMPLETED'],
  'down-longer-than-the-lease': ['C G X E N G D', 'CANCELLED lease_expired, COMMITTED COMPLETED'],
  'down-shorter-than-the-lease': ['C G D', 'COMMITTED COMPLETED'],
  'completion-answer-lost': ['C G D', 'the answer is lost, REJECTED duplicate_report'],
  'failed-after-its-effect': ['C G F G D', 'COMMITTED WAITING, COMMITTED COMPLETED'],
  'killed-then-redriven': ['C G Z N C G D', 'CANCELLED task_dead, COMMITTED COMPLETED'],
  'submitted-twice': ['C C C', ''],
  'two-workers-at-the-boundary': ['C G E G N D', 'CANCELLED lease_superseded, COMMITTED COMPLETED'],
};

async function tellToSlowLearner(story: Story): Promise<Transcript> {
  const telling = new Telling(recordLine);
  const lines: string[] = [];
  const playing = runStory(story, telling);
  const played = await telling.tell(playing, {
    read: (line) => void lines.push(line),
    async think(question) {
      await playing;
      lines.push('', `  ? ${question}`, '');
    },
  });
  return { ...played, story, lines };
}

describe('stories', function () {
  this.timeout(300_000);
  const played = new Map<string, Transcript>();
  const page = readFileSync(path.join(process.cwd(), 'docs', 'TWICE.md'), 'utf8');
  const pageLines = new Set(page.split('\n').map((line) => line.trim().replace(/\d+/g, '#')));

  before(async () => {
    const left = [...STORIES];
    const play = async (): Promise<void> => {
      for (let story = left.shift(); story !== undefined; story = left.shift()) {
        played.set(story.name, await tellToSlowLearner(story));
      }
    };
    await Promise.all([play(), play(), play(), play()]);
  });

  it('are the twelve that are expected', () => {
    expect(STORIES.map(({ name }) => name).toSorted()).deep.equal(Object.keys(EXPECTED).toSorted());
  });

  for (const [name, [records, answers]] of Object.entries(EXPECTED)) {
    it(`${name} leads to the records and answers that it is about`, () => {
      const transcript = played.get(name) as Transcript;
      expect(lettersOf(transcript)).equal(records);
      expect(transcript.answers.join(', ')).equal(answers);
    });

    it(`${name} stands in docs/TWICE.md as it is told today`, () => {
      const transcript = played.get(name) as Transcript;
      expect(page).include(`## ${transcript.story.title}\n`);
      // A heartbeat at the window changes nothing or comes too late: the moment decides.
      const told = toldOf(transcript.lines.slice(2)).filter(
        (line) => !line.includes('heartbeat L#'),
      );
      for (const line of told) expect(pageLines.has(line), line).equal(true);
    });
  }
});
