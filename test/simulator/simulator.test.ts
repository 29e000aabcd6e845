// Owns the part of the simulation that runs with every test run: several seeds without a failure,
// the same seed twice with the same course, and every planted fault caught.

import { expect } from 'chai';
import { catchFault } from './catch.ts';
import { FAULTS } from './faults.ts';
import { run } from './run.ts';
import { settingsOf } from './settings.ts';

const SEEDS = 16;
const RECORDS = 5_000;
/** Records within which a planted fault must be caught. */
const BUDGET = 60_000;

describe('simulator', () => {
  it(`${SEEDS} seeds of ${RECORDS} records each: nothing is wrong`, async () => {
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const { failure, records, transcript } = await run(settingsOf(seed, RECORDS));
      if (failure !== undefined) {
        const what = `seed ${seed}: ${failure.checker}: ${failure.message}`;
        throw new Error(`${transcript(40)}\n${what}`);
      }
      expect(records).to.be.at.least(RECORDS);
    }
  }).timeout(120_000);

  it('one seed has one course', async () => {
    const runs = [await run(settingsOf(7, 2_000)), await run(settingsOf(7, 2_000))];
    expect(runs[0]?.transcript(400)).to.equal(runs[1]?.transcript(400));
    expect(runs[0]?.records).to.equal(runs[1]?.records);
  });
});

describe('simulator: planted faults', () => {
  for (const [number, fault] of FAULTS.entries()) {
    it(fault.name, async () => {
      const caught = await catchFault(fault, number, 1, BUDGET);
      expect(caught, `not caught in ${BUDGET} records`).to.not.equal(undefined);
      expect(caught?.checker).to.be.oneOf(fault.seenBy);
    }).timeout(120_000);
  }
});
