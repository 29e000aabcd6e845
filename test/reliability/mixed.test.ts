// A steady mixed load on the real executable with a short retention: memory, files and latencies
// stay what they were, the counters are what the records say, and the state is what a replay makes.
//
//   MINUTES=30 npm run soak -- mixed          writes bench/results/soak-mixed-SEED.svg and .json

import { mkdirSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { plotLines } from '../../bench/lines.ts';
import { inPlace } from '../support/server.ts';
import { inTurn } from '../support/tier.ts';
import { LEAKS } from './program-faults.ts';
import { roundsOf } from './rounds.ts';
import { judge, tellVerdict, type Verdict } from './soak-judge.ts';
import { type Soaked, type SoakOptions, soak } from './soak-run.ts';
import { together } from './together.ts';

const isSoak = process.env['SOAK'] !== undefined;
const SECONDS = isSoak ? Math.round(Number(process.env['MINUTES'] ?? 30) * 60) : 20;
/** Enough for the fault to be seen, also when one second of a quarter was not. */
const CONTROL_SECONDS = 20;
const ENDING_MS = 180_000;
const SMALL = {
  rate: 50,
  payloadBytes: 2_000,
  retentionMs: 2_000,
  leaseMs: 1_000,
  collectMs: 1_000,
};
const LARGE = {
  rate: 50,
  payloadBytes: 500,
  retentionMs: 60_000,
  leaseMs: 5_000,
  collectMs: 10_000,
};

/** How long an answer takes in a few seconds says more of the machine than of the server. */
const isJudged = ({ name }: { readonly name: string }): boolean => isSoak || !/p\d\d$/.test(name);

async function soaked(options: SoakOptions): Promise<Soaked> {
  let seen: Soaked | undefined;
  await inPlace(async (place) => {
    seen = await soak(place, options);
  });
  return seen as Soaked;
}

describe('a mixed load', () => {
  const rounds = roundsOf('mixed load', 1, SECONDS * 1_000 + ENDING_MS);
  const controlNames = inTurn(['leaks']);
  const control = together(controlNames, () =>
    soaked({ seed: rounds.seed, seconds: CONTROL_SECONDS, ...SMALL, faults: LEAKS }),
  );
  before(() => {
    // The control plays beside the short run; a long one has the machine for itself.
    if (!isSoak && controlNames.length > 0) void control('leaks');
  });

  it(`stays flat for ${SECONDS} s`, async () => {
    await rounds.run(async (seed) => {
      const size = isSoak ? LARGE : SMALL;
      const say = isSoak ? (text: string): void => console.log(`      ${text}`) : () => {};
      const seen = await soaked({ seed, seconds: SECONDS, ...size, say });
      const verdicts = seen.series.filter(isJudged).map(judge);
      if (isSoak) keep(seed, seen, verdicts);
      for (const verdict of verdicts) say(tellVerdict(verdict));
      expect(seen.wrong).to.deep.equal([]);
      for (const kind of KINDS) expect(seen.told.get(kind), kind).to.be.greaterThan(0);
      const grew = verdicts.filter(({ isFlat }) => !isFlat);
      expect(grew.map(tellVerdict)).to.deep.equal([]);
    });
  }).timeout(rounds.timeoutMs);

  for (const name of controlNames) {
    it('control: history that stays on the device, and memory that is kept, is seen', async () => {
      const { series } = await control(name);
      const grew = series
        .filter(isJudged)
        .map(judge)
        .filter(({ isFlat }) => !isFlat);
      expect(grew.map(({ name: grown }) => grown)).to.include.members([
        'live memory',
        'private memory',
        'data directory',
        'log: forgotten',
      ]);
    }).timeout(CONTROL_SECONDS * 1_000 + ENDING_MS);
  }
});

/** A load without one of these is not the one that was meant. */
const KINDS = [
  'submit OK',
  'again',
  'complete COMMITTED',
  'complete CANCELLED',
  'fail COMMITTED',
  'kill COMMITTED',
  'redrive OK',
  'heartbeat OK',
];

function keep(seed: number, { series, told, records }: Soaked, verdicts: readonly Verdict[]): void {
  const stem = `bench/results/soak-mixed-${seed}`;
  mkdirSync('bench/results', { recursive: true });
  const lines = series.map((one, at) => ({ ...one, isFlat: verdicts[at]?.isFlat ?? false }));
  const content = { seed, records, told: Object.fromEntries(told), verdicts, series };
  writeFileSync(`${stem}.json`, `${JSON.stringify(content)}\n`);
  writeFileSync(`${stem}.svg`, plotLines(`mixed load, seed ${seed}`, lines));
  console.log(`      written to ${stem}.svg`);
}
