// Flush before answer under a tracer, and the controls: a copy of the program that answers early,
// and two that do not flush, must be caught.

import path from 'node:path';
import { expect } from 'chai';
import { inPlace } from '../support/server.ts';
import { inTurn } from '../support/tier.ts';
import { answersOf } from './flush-order.ts';
import { need } from './machine.ts';
import { copyProgram, executableOf, type Patch } from './patched.ts';
import { ANSWERS_EARLY, FLUSHES_NO_META_PAGE, NEVER_FLUSHES } from './program-faults.ts';
import { roundsOf } from './rounds.ts';

const CONTROLS: Readonly<Record<string, readonly Patch[]>> = {
  'answers before the flush': ANSWERS_EARLY,
  'never flushes': NEVER_FLUSHES,
  'does not flush the meta page': FLUSHES_NO_META_PAGE,
};

describe('flush before answer, under a tracer', () => {
  const rounds = roundsOf('flush order', 1, 60_000);
  before(function () {
    need(this, 'linux', 'strace');
  });

  it('no byte of an answer leaves before its records are flushed', async () => {
    await rounds.run((seed) =>
      inPlace(async (place) => {
        const load = { seed, clients: 4, rounds: 12 };
        const { answers, early, writers, makers } = await answersOf(place, load);
        expect(early).to.deep.equal([]);
        expect(answers).to.be.greaterThan(load.clients * load.rounds * 2);
        // The thread that answers waits itself for the flush: nobody else writes to a segment.
        expect(writers.size).to.equal(1);
        const others = [...makers].filter((thread) => !writers.has(thread));
        expect(others, 'threads are told apart').to.not.deep.equal([]);
      }),
    );
  }).timeout(rounds.timeoutMs);

  for (const [name, patches] of inTurn(Object.entries(CONTROLS))) {
    it(`control: a program that ${name} is caught`, async () => {
      await inPlace(async (place) => {
        const dist = copyProgram(path.join(place.dir, 'program'), patches);
        const load = { seed: 1, clients: 2, rounds: 3, executable: executableOf(dist) };
        const { answers, early } = await answersOf(place, load);
        expect(answers).to.be.greaterThan(0);
        expect(early).to.have.length.greaterThan(0);
      });
    }).timeout(180_000);
  }
});
