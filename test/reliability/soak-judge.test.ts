// Holds the judge of long runs to what it must see and what it must let pass.

import { expect } from 'chai';
import { Random } from '../simulator/random.ts';
import { toleranceOf } from './soak-figures.ts';
import { judge, type Series, tellVerdict } from './soak-judge.ts';

const SECONDS = 1_800;

function series(at: (second: number) => number, tolerance: Partial<Series['tolerance']> = {}) {
  const values = Array.from({ length: SECONDS }, (_, second) => at(second));
  const judged = { share: 0.1, plus: 0, by: 'median' as const, ...tolerance };
  return { name: 'memory', unit: 'MB', values, tolerance: judged };
}

describe('the judge of a long run', () => {
  const dice = new Random(7, 'judge');

  it('lets noise pass, and what happens while it warms up', () => {
    expect(judge(series(() => 100 + dice.below(40))).isFlat).to.equal(true);
    const warm = judge(series((second) => (second < SECONDS / 4 ? second : 450)));
    expect(warm).to.include({ second: 450, last: 450, isFlat: true });
  });

  it('lets what becomes less pass', () => {
    expect(judge(series((second) => 2_000 - second)).isFlat).to.equal(true);
  });

  it('sees slow growth, growth under noise, and a step after the middle', () => {
    expect(judge(series((second) => 100 + second * 0.02)).isFlat).to.equal(false);
    expect(judge(series((s) => 100 + s * 0.05 + dice.below(60))).isFlat).to.equal(false);
    expect(judge(series((second) => (second < 1_000 ? 100 : 112))).isFlat).to.equal(false);
  });

  it('sees a megabyte a minute that leaks for half an hour, and lets noise of memory pass', () => {
    for (const [figure, level, noise] of [
      ['live memory', 75, 2],
      ['private memory', 160, 20],
    ] as const) {
      const of = (leak: number) => {
        const at = (second: number) => level + noise * (dice.below(1_000) / 1_000) + second * leak;
        return judge(series(at, toleranceOf(figure, SECONDS))).isFlat;
      };
      expect(of(0), figure).to.equal(true);
      expect(of(1 / 60), `${figure}, leaking`).to.equal(false);
    }
  });

  it('sees teeth that become longer, by their mean, and lets equal ones pass', () => {
    const by = { by: 'mean' } as const;
    expect(judge(series((second) => second % 60, by)).isFlat).to.equal(true);
    const longer = judge(series((second) => (second % 60) * (1 + second / SECONDS), by));
    expect(longer.isFlat).to.equal(false);
  });

  it('is not bribed by peaks, and allows what was said, to the point', () => {
    const peaks = judge(series((second) => (second > 1_350 && second % 3 === 0 ? 9_000 : 100)));
    expect(peaks.isFlat).to.equal(true);
    const step = (to: number) => series((second) => (second < 900 ? 100 : to), { plus: 5 });
    expect(judge(step(115)).isFlat).to.equal(true);
    expect(judge(step(115.1)).isFlat).to.equal(false);
  });

  it('passes over seconds in which nothing was seen, and does not judge when none was', () => {
    const gaps = judge(series((second) => (second % 2 === 0 ? Number.NaN : 100 + second)));
    expect(gaps.isFlat).to.equal(false);
    expect(() => judge(series((second) => (second < 1_350 ? 1 : Number.NaN)))).to.throw(
      RangeError,
      'memory: 0 values in quarter 4',
    );
    expect(() => judge({ ...series(() => 1), values: [1, 2, 3] })).to.throw(RangeError);
  });

  it('says what it saw', () => {
    const grew = judge(series((second) => (second < 900 ? 100 : 200)));
    expect(tellVerdict(grew)).to.equal('GREW  memory: 100 → 200 MB, at most 110');
  });
});
