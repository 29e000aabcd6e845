// Holds the page about explain to what explain gives: every field of the JSON is in its tables, and
// the transcript in it is the text of today's code in all that does not depend on the moment.
// `REWRITE=1` writes the transcript anew.

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { explain, type TaskStory } from '../../src/explain/explain-task.ts';
import { explanationJson } from '../../src/explain/page-json.ts';
import { explanationText } from '../../src/explain/page-text.ts';
import type { LogRecord } from '../../src/model/records.ts';
import type { Standing } from '../../src/model/response.ts';
import { stories } from './explain-stories.ts';

const file = path.join(process.cwd(), 'docs', 'EXPLAIN.md');
const page = readFileSync(file, 'utf8');

/** A page before a line, the line, and the page after the text that follows it in a code block. */
function partsAt(text: string, line: string): [string, string, string] {
  const at = text.indexOf(line);
  return [text.slice(0, at), line, text.slice(text.indexOf('```', at))];
}
type Fields = Record<string, unknown>;

describe('the page about explain', () => {
  it('names every field of the JSON', () => {
    const fields = new Set<string>();
    const collect = (value: unknown): void => {
      if (Array.isArray(value)) value.forEach(collect);
      else if (typeof value === 'object' && value !== null) {
        for (const [name, inner] of Object.entries(value as Fields)) {
          fields.add(name);
          collect(inner);
        }
      }
    };
    for (const story of Object.values(stories))
      collect(JSON.parse(explanationJson(explain(story()))));
    expect(fields.size).above(40);
    for (const field of fields) expect(page).match(new RegExp(`\\b${field}\\b`), field);
  });

  it('tells each certainty and evidence', () => {
    for (const word of ['did', 'may', 'unknown', 'reported', 'heartbeated', 'none']) {
      expect(page).include(`\`${word}\``);
    }
  });

  it('shows the story as it is told today', () => {
    const text = explanationText(explain(shownStory()));
    const [head, asked, tail] = partsAt(page, '$ leasehold explain T2\n');
    if (process.env.REWRITE !== undefined) writeFileSync(file, `${head}${asked}${text}${tail}`);
    expect(page).include(text);
  });
});

/** The records that the real processes of the page left in the log. */
function shownStory(): TaskStory {
  const day = Date.UTC(2026, 10, 28, 3, 46);
  const at = (seconds: number): number => day + Math.round(seconds * 1_000);
  const more = { taskId: 2, extensions: 0, lastExtension: 0 };
  const records: LogRecord[] = [
    {
      type: 'TaskCreated',
      seq: 2,
      at: at(22.405),
      prev: 0,
      queue: 'mail',
      requestId: 'cli-Jm3xU8eRq1Wd',
      payload: new Uint8Array(18),
      executionWindowMs: 3_600_000,
      retryPolicy: { maxRetries: 3, backoffMs: 30_000, backoffFactor: 1 },
    },
    grant(3, at(22.531), 2, 'w1', 1),
    {
      type: 'LeaseExtended',
      seq: 4,
      at: at(24.736),
      prev: 3,
      taskId: 2,
      leaseId: 3,
      newLeaseExpiry: at(29.736),
    },
    {
      ...more,
      type: 'LeaseExpired',
      seq: 5,
      at: at(29.765),
      prev: 3,
      leaseId: 3,
      extensions: 1,
      lastExtension: 4,
    },
    grant(6, at(30.124), 5, 'w2', 2),
    {
      type: 'TaskCancelled',
      seq: 7,
      at: at(31.273),
      prev: 6,
      taskId: 2,
      leaseId: 3,
      report: 'complete',
    },
    {
      ...more,
      type: 'TaskCompleted',
      seq: 8,
      at: at(32.384),
      prev: 7,
      leaseId: 6,
      result: new TextEncoder().encode('sent'),
    },
  ];
  const standing: Standing = {
    kind: 'standing',
    taskId: 2,
    state: 'COMPLETED',
    queue: 'mail',
    now: at(32.488),
    asOf: 8,
    lastRecord: 8,
    lastExtension: 0,
    starts: [],
    aheadIsMore: false,
    poisonAtNextGrant: false,
    attemptsLeft: 2,
  };
  return { records, starts: [], standing };
}

const grant = (
  seq: number,
  at: number,
  prev: number,
  workerId: string,
  attempt: number,
): LogRecord => ({
  type: 'LeaseGranted',
  seq,
  at,
  prev,
  taskId: 2,
  workerId,
  attempt,
  leaseExpiry: at + 5_000,
  grantedAt: at,
});
