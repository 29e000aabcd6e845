// Owns the command `npm run bench -- NAME…`: runs the benches named, prints their tables and keeps
// their results. A bench that finds something wrong while it measures fails the command.

import { readdirSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type Bench, print, save } from './harness.ts';

const here = new URL('.', import.meta.url);
const known = readdirSync(here)
  .map((file) => /^(.+)\.bench\.[jt]s$/.exec(file)?.[1])
  .filter((name) => name !== undefined);

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '5' } },
});
const rounds = Number(values.rounds);
const unknown = positionals.filter((name) => !known.includes(name));

if (positionals.length === 0 || unknown.length > 0 || !(rounds >= 1)) {
  for (const name of unknown) console.error(`no bench is called ${name}`);
  console.error(`usage: npm run bench -- [--rounds 5] NAME…\nbenches: ${known.join(', ')}`);
  process.exit(2);
}

for (const name of positionals) {
  const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const { bench } = (await import(new URL(`${name}.bench.${ending}`, here).href)) as {
    bench: Bench;
  };
  console.log(`${name}: ${bench.about}\n${rounds} rounds`);
  const rows = await bench.run({ rounds });
  print(rows, (text) => process.stdout.write(text));
  console.log(`written to ${save(name, rows)}\n`);
}
