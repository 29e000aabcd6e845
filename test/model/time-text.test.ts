// Holds the reckoning of days to the platform's, and durations to their words.

import { expect } from 'chai';
import {
  clockText,
  dayText,
  durationAtLeastText,
  durationAtMostText,
  durationText,
  timeText,
} from '../../src/model/time-text.ts';

describe('time text', () => {
  it('agrees with the platform from 1970 on, leap days included', () => {
    const edges = [0, 951_782_400_000, 951_868_800_000, 4_107_542_400_000, 13_574_563_200_000];
    for (let i = 0; i < 2_000; i += 1) edges.push(i * 86_400_000 * 97 + i * 7_919);
    for (const at of edges) {
      const iso = new Date(at).toISOString();
      expect(`${dayText(at)}T${clockText(at)}Z`).equal(iso);
    }
  });

  it('names the day only when it is another one', () => {
    expect(timeText(1_000, 2_000)).equal('00:00:01.000');
    expect(timeText(86_400_000, 2_000)).equal('1970-01-02 00:00:00.000');
  });

  it('says durations in their two largest units', () => {
    const told = [0, 999, 1_000, 59_999, 60_000, 125_000, 11_520_000, 360_000_000].map(
      durationText,
    );
    expect(told).deep.equal([
      '0 ms',
      '999 ms',
      '1.0 s',
      '1 min',
      '1 min',
      '2 min 5 s',
      '3 h 12 min',
      '4 d 4 h',
    ]);
  });

  it('rounds a duration to the nearest, across its units too', () => {
    const told = [1_049, 1_050, 8_063, 59_949, 59_951, 119_499, 119_500, 3_599_600].map(
      durationText,
    );
    expect(told).deep.equal([
      '1.0 s',
      '1.1 s',
      '8.1 s',
      '59.9 s',
      '1 min',
      '1 min 59 s',
      '2 min',
      '1 h',
    ]);
  });

  it('says a lower bound so that it is one', () => {
    const told = [0, 999, 1_099, 59_999, 119_999, 3_659_999].map(durationAtLeastText);
    expect(told).deep.equal(['0 ms', '999 ms', '1.0 s', '59.9 s', '1 min 59 s', '1 h']);
  });

  it('says an upper bound so that it is one', () => {
    const told = [0, 1, 999, 1_001, 1_100, 59_901, 60_001, 125_001, 3_600_001, 86_400_000].map(
      durationAtMostText,
    );
    expect(told).deep.equal([
      '0 ms',
      '1 ms',
      '999 ms',
      '1.1 s',
      '1.1 s',
      '1 min',
      '1 min 1 s',
      '2 min 6 s',
      '1 h 1 min',
      '1 d',
    ]);
  });
});
