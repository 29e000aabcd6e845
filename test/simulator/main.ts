// Owns the command line of the simulator: `npm run sim -- --seed N --steps M`.

import { parseArgs } from 'node:util';
import { catchFault } from './catch.ts';
import { FAULTS } from './faults.ts';
import { run } from './run.ts';
import { settingsOf } from './settings.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    steps: { type: 'string', default: '20000' },
    runs: { type: 'string', default: '1' },
    lines: { type: 'string', default: '60' },
    faults: { type: 'boolean', default: false },
    forever: { type: 'boolean', default: false },
    minutes: { type: 'string', default: '10' },
  },
});

const first = values.seed === undefined ? Date.now() % 1_000_000_000 : Number(values.seed);
const steps = Number(values.steps);
const runs = values.forever ? Number.POSITIVE_INFINITY : Number(values.runs);
if (values.faults) {
  for (const [number, fault] of FAULTS.entries()) {
    const caught = await catchFault(fault, number, first, 50_000);
    const how =
      caught && `${caught.checker} | ${caught.records} | ${caught.message.split('\n')[0]}`;
    console.log(`| ${fault.name} | ${how ?? 'not caught'} |`);
  }
  process.exit();
}
console.log(`first seed ${first}, ${steps} records a run`);
const began = performance.now();
const seconds = (): number => (performance.now() - began) / 1_000;
const limit = values.forever ? Number(values.minutes) * 60 : Number.POSITIVE_INFINITY;
let records = 0;
for (let seed = first; seed < first + runs && seconds() < limit; seed += 1) {
  const { failure, transcript, ...result } = await run(settingsOf(seed, steps));
  records += result.records;
  if (failure === undefined) continue;
  console.log(transcript(Number(values.lines)));
  console.log(`seed ${seed} fails after ${result.records} records`);
  console.log(`${failure.checker}: ${failure.message}`);
  process.exitCode = 1;
  break;
}
console.log(`${records} records, ${Math.round(records / seconds())} a second`);
