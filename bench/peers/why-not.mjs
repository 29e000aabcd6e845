// Owns the command `npm run why-not:peers`: plays the other side's part of the experiments and
// writes what came of it into docs/WHY-NOT-KAFKA.md. It is no part of the suite.

import { readFileSync, writeFileSync } from 'node:fs';
import { fillBlock } from '../../dist/src/play/why-not-page.js';
import { installMissing } from './packages.mjs';
import { kafkaExperiments } from './why-kafka.mjs';
import { redisExperiments } from './why-redis.mjs';

installMissing(['redis-server', 'librdkafka-dev']);
const file = new URL('../../docs/WHY-NOT-KAFKA.md', import.meta.url);
let page = readFileSync(file, 'utf8');
for (const [side, experiments] of [
  ['kafka', kafkaExperiments],
  ['redis', redisExperiments],
]) {
  for (const [name, play] of Object.entries(experiments)) {
    const lines = await play().catch((error) => {
      // The mock broker does not always bring a group of three together.
      console.error(`${side}: ${name}: ${error.message}; it is played once more`);
      return play();
    });
    console.error([`${side}: ${name}`, ...lines].join('\n'));
    page = fillBlock(page, side, name, lines);
  }
}
writeFileSync(file, page);
