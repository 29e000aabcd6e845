// kill -9 at random moments under load, again and again on one log: everything that was
// acknowledged is in it afterwards, and no task or lease has two outcomes.
// LEASEHOLD_CRASH_CYCLES sets how often; the seed of the moments is printed when it fails.

import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { type Acknowledged, doubled, Load, missing } from './load.ts';
import { type Fields, Stage } from './support.ts';

const CYCLES = Number(process.env['LEASEHOLD_CRASH_CYCLES'] ?? 25);
const CLIENTS = 6;
const LOAD_MIN_MS = 10;
const LOAD_MAX_MS = 150;

/** Small and good enough: moments must differ, and be the same again under the same seed. */
function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

describe('kill -9 under load', () => {
  let stage: Stage;
  before(async () => {
    stage = await Stage.open();
  });
  after(() => stage.close());

  it(`loses nothing that was acknowledged, ${CYCLES} times`, async function () {
    this.timeout(30_000 + CYCLES * 10_000);
    const seed = Number(process.env['LEASEHOLD_CRASH_SEED'] ?? Date.now() % 1_000_000);
    const next = random(seed);
    const acknowledged: Acknowledged[] = [];
    let log: Fields[] = [];
    for (let cycle = 0; cycle < CYCLES; cycle++) {
      const args = ['--lease-duration-ms', '500', '--log-level', 'warn'];
      const server = await stage.serve(args).ready();
      // The log is read on while the server lives, so that each cycle reads its own part only.
      log = log.concat(await stage.records(Number(log.at(-1)?.['seq'] ?? 0) + 1));
      const load = new Load(stage, CLIENTS);
      await pause(LOAD_MIN_MS + next() * (LOAD_MAX_MS - LOAD_MIN_MS));
      server.kill('SIGKILL');
      await server.ended;
      await load.stop();
      acknowledged.push(...load.acknowledged);
    }
    await stage.serve(['--log-level', 'warn']).ready();
    const all = await stage.records();
    const where = `seed ${seed}`;
    expect(missing(acknowledged, all), where).to.deep.equal([]);
    expect(doubled(all), where).to.deep.equal([]);
    expect(all.map(({ seq }) => seq)).to.deep.equal(all.map((_, i) => i + 1));
    expect(all.slice(0, log.length), `${where}: what was shown stays`).to.deep.equal(log);
    const starts = all.filter(({ type }) => type === 'CoordinatorStarted');
    expect(starts).to.have.length(CYCLES + 1);
    expect(acknowledged.length, 'there was a load').to.be.greaterThan(CYCLES);
  });
});
