// Owns the part of the simulation that runs with every test run: several seeds without a failure,
// the same seed twice with the same course, and every planted fault caught.

import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { inTurn, sized } from '../support/tier.ts';
import { catchFault } from './catch.ts';
import { FAULTS } from './faults.ts';
import { OWN_FAULTS } from './own-faults.ts';
import { plant } from './plant.ts';
import { run } from './run.ts';
import { settingsOf } from './settings.ts';

const SEEDS = sized(60, 6);
/** A short round has seeds of its own each time. */
const FIRST_SEED = sized(1, 1 + Number(process.env['SEED'] ?? 0) * SEEDS);
const RECORDS = 5_000;
const ALL_FAULTS = [...FAULTS, ...OWN_FAULTS];
/** Records within which a planted fault must be caught. */
const BUDGET = 60_000;

describe('simulator', () => {
  it(`${SEEDS} seeds of ${RECORDS} records: nothing is wrong`, async () => {
    for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed += 1) {
      const { failure, records, transcript } = await run(settingsOf(seed, RECORDS));
      if (failure !== undefined) {
        const what = `seed ${seed}: ${failure.checker}: ${failure.message}`;
        throw new Error(`${transcript(40)}\n${what}`);
      }
      expect(records).to.be.at.least(RECORDS);
    }
  }).timeout(300_000);

  it('one seed has one course', async () => {
    const runs = [await run(settingsOf(7, 2_000)), await run(settingsOf(7, 2_000))];
    expect(runs[0]?.transcript(400)).to.equal(runs[1]?.transcript(400));
    expect(runs[0]?.records).to.equal(runs[1]?.records);
  });
});

describe('simulator: a failure is made small', () => {
  it('to a third of its records or less, by settings that repeat it', async () => {
    const fault = FAULTS.find(({ name }) => name.startsWith('the first backoff'));
    if (fault === undefined) throw new Error('no such fault');
    const planted = await plant(fault, ALL_FAULTS.length);
    try {
      // A seed in which it comes late, so that there is something to take away.
      const settings = settingsOf(4, 5_000);
      const failed = await planted.run(settings);
      expect(failed.failure?.checker).to.equal('model');
      const small = await planted.shrink(settings, failed, 10_000);
      expect(small.run.failure?.checker).to.equal('model');
      expect(small.run.records).to.be.at.most(failed.records / 3);
      const again = await planted.run(small.settings);
      expect(again.failure).to.deep.equal(small.run.failure);
    } finally {
      planted.remove();
    }
  }).timeout(180_000);
});

describe('simulator: planted faults', () => {
  it('stand in docs/internals/SIMULATOR.md with a checker that may see them first', () => {
    const lines = readFileSync('docs/internals/SIMULATOR.md', 'utf8').split('\n');
    for (const { name, seenBy } of ALL_FAULTS) {
      const line = lines.find((text) => text.startsWith(`| ${name} |`));
      expect(line?.split('|')[2]?.trim(), name).to.be.oneOf(seenBy);
    }
  });

  for (const [number, fault] of inTurn([...ALL_FAULTS.entries()], 4)) {
    it(fault.name, async () => {
      const caught = await catchFault(fault, number, 1, BUDGET);
      expect(caught, `not caught in ${BUDGET} records`).to.not.equal(undefined);
      expect(caught?.checker).to.be.oneOf(fault.seenBy);
    }).timeout(300_000);
  }
});
