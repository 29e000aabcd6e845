// Plays stories with real processes: the coordinator and its workers are killed, frozen and cut off
// by signals. All of them in a full round; in a short one two of them, others each day, for
// test/play plays every one in memory.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { EXPERIMENTS } from '../../src/play/experiments.ts';
import { STORIES } from '../../src/play/stories.ts';
import { EXPERIMENTS_LEAD_TO, STORIES_LEAD_TO, tellToSlowLearner } from '../play/stories.ts';
import { lettersOf, unwritten } from '../play/told.ts';
import { inTurn } from '../support/tier.ts';

describe('stories with real processes', function () {
  this.timeout(300_000);
  const page = readFileSync(path.join(process.cwd(), 'docs', 'TWICE.md'), 'utf8');

  for (const story of inTurn(STORIES)) {
    it(`${story.name} is told as docs/TWICE.md tells it`, async () => {
      const [records, answers] = STORIES_LEAD_TO[story.name] as readonly [string, string];
      const transcript = await tellToSlowLearner(story);
      expect(lettersOf(transcript)).equal(records);
      expect(transcript.answers.join(', ')).equal(answers);
      expect(unwritten(page, transcript)).deep.equal([]);
    });
  }

  for (const story of inTurn(EXPERIMENTS)) {
    it(`${story.name} leads to the records and answers that it is about`, async () => {
      const [records, answers] = EXPERIMENTS_LEAD_TO[story.name] as readonly [string, string];
      const transcript = await tellToSlowLearner(story);
      expect(lettersOf(transcript)).equal(records);
      expect(transcript.answers.join(', ')).equal(answers);
    });
  }
});
