// Owns the part of the simulation of several nodes that runs with every test run: seeds without a
// failure, one course for one seed, an etcd that was set back, and every planted fault caught.

import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { inTurn, sized } from '../../support/tier.ts';
import { catchFault } from '../catch.ts';
import type { Fault } from '../faults.ts';
import { plantIn } from '../plant.ts';
import type { Run } from '../run.ts';
import { CLUSTER_FAULTS, SCENE_FAULTS } from './cluster-faults.ts';
import { playHeldCopies } from './held-copy.ts';
import { playLateGroup } from './late-group.ts';
import { playRestored } from './restored.ts';
import { runCluster } from './run.ts';
import { clusterSettingsOf } from './settings.ts';

const SEEDS = sized(60, 3);
/** A short round has seeds of its own each time. */
const FIRST_SEED = sized(1, 1 + Number(process.env['SEED'] ?? 0) * SEEDS);
const RECORDS = 1_000;
/** Records within which a planted fault must be caught. */
const BUDGET = 60_000;
/** Planted copies of the program lie beside those of the simple simulator. */
const FIRST_NUMBER = 1_000;

const CLUSTER = {
  entry: 'test/simulator/replicated/run.js',
  name: 'runCluster',
  settingsOf: clusterSettingsOf,
} as const;

describe('simulator of several nodes', () => {
  it(`${SEEDS} seeds of ${RECORDS} records: nothing is wrong`, async () => {
    for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed += 1) {
      const { failure, records, transcript } = await runCluster(clusterSettingsOf(seed, RECORDS));
      if (failure !== undefined) {
        const what = `seed ${seed}: ${failure.checker}: ${failure.message}`;
        throw new Error(`${transcript(40)}\n${what}`);
      }
      expect(records).to.be.at.least(RECORDS);
    }
  }).timeout(600_000);

  it('one seed has one course', async () => {
    const settings = clusterSettingsOf(7, 500);
    const runs = [await runCluster(settings), await runCluster(settings)];
    expect(runs[0]?.transcript(400)).to.equal(runs[1]?.transcript(400));
    expect(runs[0]?.records).to.equal(runs[1]?.records);
  });

  for (const lost of inTurn([1, 2, 5])) {
    it(`an etcd that was set back by ${lost} groups is noticed`, async () => {
      const { failure, transcript } = await playRestored(lost);
      expect(failure, transcript(20)).to.equal(undefined);
    });
  }

  it('a copy of the log is held until a node runs on it', async () => {
    const { failure, transcript } = await playHeldCopies(sized(4, 1));
    expect(failure, transcript(1)).to.equal(undefined);
  });

  it('a group that was given up does not arrive after all', async () => {
    const { failure, transcript } = await playLateGroup();
    expect(failure, transcript(1)).to.equal(undefined);
  });
});

describe('simulator of several nodes: planted faults', () => {
  const all: readonly Fault[] = [...CLUSTER_FAULTS, ...SCENE_FAULTS];

  it('stand in docs/internals/SIMULATOR.md with a checker that may see them first', () => {
    const lines = readFileSync('docs/internals/SIMULATOR.md', 'utf8').split('\n');
    for (const { name, seenBy } of all) {
      const line = lines.find((text) => text.startsWith(`| ${name} |`));
      expect(line?.split('|')[2]?.trim(), name).to.be.oneOf(seenBy);
    }
  });

  for (const [number, fault] of inTurn([...CLUSTER_FAULTS.entries()])) {
    it(fault.name, async () => {
      const caught = await catchFault(fault, FIRST_NUMBER + number, 1, BUDGET, CLUSTER);
      expect(caught, `not caught in ${BUDGET} records`).to.not.equal(undefined);
      expect(caught?.checker).to.be.oneOf(fault.seenBy);
    }).timeout(600_000);
  }

  for (const [number, fault] of inTurn([...SCENE_FAULTS.entries()])) {
    it(fault.name, async () => {
      const place = FIRST_NUMBER + all.length + number;
      const planted = await plantIn<Scenes>(fault, place, fault.entry);
      try {
        const { failure } = (await planted.module[fault.scene]?.(2)) ?? {};
        expect(failure?.checker).to.be.oneOf(fault.seenBy);
      } finally {
        planted.remove();
      }
    });
  }
});

type Scenes = Readonly<Record<string, (lost: number) => Promise<Run>>>;
