// Plays leasehold's part of the experiments and writes it into docs/WHY-NOT-KAFKA.md. Needs
// `npm run build` before. The other side's part is written by `npm run why-not:peers`.
import { readFileSync, writeFileSync } from 'node:fs';

const { recordLine } = await import('../dist/src/model/record-line.js');
const { EXPERIMENTS } = await import('../dist/src/play/experiments.js');
const { transcribe } = await import('../dist/src/play/twice-page.js');
const { fillBlock } = await import('../dist/src/play/why-not-page.js');

const file = new URL('../docs/WHY-NOT-KAFKA.md', import.meta.url);
let page = readFileSync(file, 'utf8');
for (const experiment of EXPERIMENTS) {
  process.stderr.write(`${experiment.name}\n`);
  const { lines } = await transcribe(experiment, recordLine);
  page = fillBlock(page, 'leasehold', experiment.name, lines.slice(2));
}
writeFileSync(file, page);
