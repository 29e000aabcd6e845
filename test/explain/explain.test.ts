// Holds explanations to kept transcripts: what a newcomer would read. `npm run golden` writes them
// anew; read the difference before it is committed.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { explain } from '../../src/explain/explain-task.ts';
import { explanationJson } from '../../src/explain/page-json.ts';
import { explanationText } from '../../src/explain/page-text.ts';
import { Story } from '../core/story-builder.ts';
import { stories } from './explain-stories.ts';

const kept = join(process.cwd(), 'test', 'golden', 'explain');

describe('explain', () => {
  for (const [name, story] of Object.entries(stories)) {
    it(`tells the story ${name}`, () => {
      const told = explain(story());
      const text = explanationText(told);
      const file = join(kept, `${name}.txt`);
      if (process.env.REWRITE !== undefined) writeFileSync(file, text);
      expect(existsSync(file), `${file} is missing: npm run golden makes it`).equal(true);
      expect(text).equal(readFileSync(file, 'utf8'));
    });

    it(`names records of the story ${name} only`, () => {
      const given = story();
      const told = explain(given);
      const known = new Set([
        ...given.records.map(({ seq }) => seq),
        ...given.starts.map(({ record }) => record.seq),
        told.originTaskId,
        told.redrivenAs,
        ...(given.relatives ?? []).flatMap(({ records }) => records.map(({ seq }) => seq)),
        ...(given.relatives ?? []).flatMap(({ restores }) => restores ?? []),
        ...[...(given.between?.values() ?? [])].flatMap((wait) => [
          wait.firstGrant,
          wait.lastGrant,
          wait.freed?.record,
        ]),
      ]);
      for (const { text, records } of told.statements) {
        expect(records, text).not.empty;
        for (const seq of records) expect(known.has(seq), `${text} names ${seq}`).equal(true);
      }
      expect(told.records.map(({ seq }) => seq)).deep.equal(given.records.map(({ seq }) => seq));
      expect(
        told.records.every(({ rule }) => rule !== ''),
        'each record has its rule',
      ).equal(true);
    });

    it(`keeps the text of ${name} within any width and its JSON whole`, () => {
      const told = explain(story());
      for (const columns of [60, 80, 133]) {
        for (const line of explanationText(told, columns).split('\n')) {
          // A word is never cut, be it longer than a line.
          if (line.trim().includes(' ')) expect([...line].length, line).most(columns);
        }
      }
      const json = JSON.parse(explanationJson(told)) as Record<string, unknown[]>;
      expect(json['attempts']).length(told.attempts.length);
      expect(json['overlaps']).length(told.overlaps.length);
    });
  }

  it('tells a task that was given back too often as given back, not as failed', () => {
    const story = new Story({ retryPolicy: { maxRetries: 0, backoffMs: 0, backoffFactor: 1 } });
    for (let i = 1; i <= 100; i += 1) story.grant(i, 'w1').fail(i, 'no GPU', i, 'released');
    story.grant(101, 'w1').fail(101, 'no GPU', undefined, 'released');
    const { statements } = explain(story.told(102));
    const [end] = statements.filter(({ topic }) => topic === 'end');
    expect(end?.text).match(/ gave the task back .* more than 100 times in a row.* is FAILED\.$/);
    expect(end?.text).not.include('that it failed');
  });
});
