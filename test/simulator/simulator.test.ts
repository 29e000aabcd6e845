// Owns the part of the simulation that runs with every test run: several seeds, within a fixed
// time, and what a failure tells.

import { expect } from 'chai';
import { run } from './run.ts';
import { settingsOf } from './settings.ts';

const SEEDS = 12;
const RECORDS = 2_000;

describe('simulator', () => {
  it(`${SEEDS} seeds of ${RECORDS} records each: model, order, durability, liveness`, async () => {
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const { failure, records, transcript } = await run(settingsOf(seed, RECORDS));
      if (failure !== undefined) {
        const what = `seed ${seed}: ${failure.checker}: ${failure.message}`;
        throw new Error(`${transcript(40)}\n${what}`);
      }
      expect(records).to.be.at.least(RECORDS);
    }
  }).timeout(60_000);
});
