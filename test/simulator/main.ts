// Owns the command line of the simulator: `npm run sim -- --seed N --steps M`. It prints the seed
// first, and of a run that fails the last steps, the settings that repeat it, and a smaller one.

import { parseArgs } from 'node:util';
import { catchFault } from './catch.ts';
import { FAULTS } from './faults.ts';
import { OWN_FAULTS } from './own-faults.ts';
import { CLUSTER_FAULTS } from './replicated/cluster-faults.ts';
import { runCluster } from './replicated/run.ts';
import { clusterSettingsOf } from './replicated/settings.ts';
import { type Run, run } from './run.ts';
import { type Settings, settingsOf } from './settings.ts';
import { shrink } from './shrink.ts';

const TOLD_EVERY = 100;
const HELP = `npm run sim -- [--seed N] [--steps M] [--runs R]   R seeds from N, M records each
npm run sim -- --forever [--minutes K]             fresh seeds until one fails, or K minutes
npm run sim -- --settings JSON                     one run as a failure printed it
npm run sim -- --faults                            every planted fault and what caught it
npm run sim -- --replicated …                      all of that with several nodes over etcd
  --lines L   how much of the transcript is shown    --no-shrink   only the first failure`;

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    steps: { type: 'string', default: '20000' },
    runs: { type: 'string', default: '1' },
    forever: { type: 'boolean', default: false },
    minutes: { type: 'string' },
    settings: { type: 'string' },
    faults: { type: 'boolean', default: false },
    replicated: { type: 'boolean', default: false },
    lines: { type: 'string', default: '40' },
    'no-shrink': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

/** The simulator of one coordinator, or that of several nodes. */
const SIMULATORS = {
  simple: {
    run,
    entry: 'test/simulator/run.js',
    name: 'run',
    settingsOf,
    faults: [...FAULTS, ...OWN_FAULTS],
  },
  replicated: {
    run: runCluster as typeof run,
    entry: 'test/simulator/replicated/run.js',
    name: 'runCluster',
    settingsOf: clusterSettingsOf,
    faults: CLUSTER_FAULTS,
  },
} as const;
const simulator = SIMULATORS[values.replicated ? 'replicated' : 'simple'];

if (values.help) console.log(HELP);
else if (values.faults) await showFaults();
else await simulate();

async function simulate(): Promise<void> {
  const first = values.seed === undefined ? Date.now() % 1_000_000_000 : Number(values.seed);
  const steps = Number(values.steps);
  const seconds = values.minutes === undefined ? Number.POSITIVE_INFINITY : +values.minutes * 60;
  const runs = values.settings || !values.forever ? Number(values.runs) : Number.POSITIVE_INFINITY;
  console.log(`seed ${first}, ${steps} records a run`);
  const began = performance.now();
  const elapsed = (): number => (performance.now() - began) / 1_000;
  let records = 0;
  let seed = first;
  for (; seed < first + runs && elapsed() < seconds; seed += 1) {
    const settings = values.settings
      ? (JSON.parse(values.settings) as Settings)
      : simulator.settingsOf(seed, steps);
    const result = await simulator.run(settings);
    records += result.records;
    const done = seed + 1 - first;
    if (result.failure === undefined) {
      if (done % TOLD_EVERY === 0)
        console.log(`${done} runs, ${records} records, next ${seed + 1}`);
      continue;
    }
    await tell(settings, result);
    process.exitCode = 1;
    break;
  }
  const cpu = process.cpuUsage().user / 1e6;
  const [wall, own] = [records / elapsed(), records / cpu].map(Math.round);
  const rate = `${wall} a second, ${own} a CPU second`;
  console.log(`${records} records in ${seed - first} good runs, ${rate}`);
  if (process.exitCode !== 1 && !values.settings) console.log(`go on with --seed ${seed}`);
}

async function tell(settings: Settings, failed: Run): Promise<void> {
  show(settings, failed);
  if (values['no-shrink'] || values.settings) return;
  const small = await shrink(settings, failed, 60_000, simulator.run);
  console.log(`\nthe smallest of ${small.tried} more runs that fails alike:\n`);
  show(small.settings, small.run);
}

function show(settings: Settings, { failure, records, transcript }: Run): void {
  console.log(transcript(Number(values.lines)));
  console.log(`seed ${settings.seed} fails after ${records} records`);
  console.log(`${failure?.checker}: ${failure?.message}`);
  const flags = values.replicated ? '--replicated ' : '';
  console.log(`again: npm run sim -- ${flags}--settings '${JSON.stringify(settings)}'`);
}

async function showFaults(): Promise<void> {
  console.log('| planted fault | seen first by | after records |\n|---|---|---|');
  for (const [number, fault] of simulator.faults.entries()) {
    const seed = Number(values.seed ?? 1);
    const caught = await catchFault(fault, number, seed, 100_000, simulator);
    console.log(`| ${fault.name} | ${caught?.checker ?? 'nobody'} | ${caught?.records} |`);
    if (caught === undefined) process.exitCode = 1;
  }
}
