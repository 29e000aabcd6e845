// Owns the command `npm run bench -- [NAME…]`: runs the benches named, or all, prints their tables
// and keeps their results. A bench that finds something wrong while it measures fails the command.

import { readdirSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { checking } from './checked.ts';
import type { Bench } from './harness.ts';
import { describeMachine, sayMachine } from './machine.ts';
import { progressOn } from './progress.ts';
import { print, save } from './report.ts';

const here = new URL('.', import.meta.url);
const known = readdirSync(here)
  .map((file) => /^(.+)\.bench\.[jt]s$/.exec(file)?.[1])
  .filter((name) => name !== undefined);

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '1' },
    large: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);
const unknown = positionals.filter((name) => !known.includes(name));

if (values.help || unknown.length > 0 || !(rounds >= 1) || !(seconds > 0)) {
  for (const name of unknown) console.error(`no bench is called ${name}`);
  console.error(
    'usage: npm run bench -- [--rounds 5] [--seconds 1] [--large] [--check] [NAME…]\n' +
      `benches (all when none is named): ${known.join(', ')}`,
  );
  process.exit(2);
}

// An exit, not a death: whatever a bench has started is ended with it.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

checking.on = values.check;
const machine = describeMachine();
console.log(sayMachine(machine));
for (const name of positionals.length > 0 ? positionals : known) {
  const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const { bench } = (await import(new URL(`${name}.bench.${ending}`, here).href)) as {
    bench: Bench;
  };
  console.log(`\n${name}: ${bench.about}\n${rounds} rounds`);
  const progress = progressOn();
  const say = (text: string): void => progress.say(`${name}: ${text}`);
  const rows = await bench.run({ rounds, seconds, large: values.large, say });
  progress.done();
  print(rows, (text) => process.stdout.write(text));
  if (checking.on) console.log('checked: no rule was broken, and every log is whole');
  else console.log(`written to ${save(name, rows, machine)}`);
}
