// Owns how a log in small segments grows, for the tests of what becomes of its segments.

import { expect } from 'chai';
import type { Log } from '../../src/log/log.ts';
import type { LogRecord } from '../../src/model/records.ts';
import { created } from './records.ts';

/** Of a segment: some ten groups fill it. */
export const SEGMENT_BYTES = 160_000;

export const numbers = (records: Iterable<LogRecord>): number[] =>
  [...records].map(({ seq }) => seq);

/** Keeps the first record of each group. */
export const tens = ({ seq }: LogRecord): boolean => seq % 10 === 1;

/** Appends groups of ten records of 1 500 bytes. */
export async function grow(log: Log, groups: number): Promise<void> {
  for (let left = groups; left > 0; left -= 1) {
    const first = log.lastNumber + 1;
    const records = Array.from({ length: 10 }, (_, i) => created(first + i, 'x'.repeat(1_500)));
    expect(await log.append(records)).to.equal('durable');
  }
}
