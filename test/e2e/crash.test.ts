// kill -9 at random moments under a load over HTTP and the socket, again and again on one log:
// everything that was acknowledged is in it afterwards, no task or lease has two outcomes, every
// second run has its reason, and the state that is served is the one that a replay offline makes.
//
//   CYCLES=10000 npm run crash          25 on each log; it prints the seed first

import { expect } from 'chai';
import { live } from '../reliability/lives.ts';
import type { Patch } from '../reliability/patched.ts';
import { ANSWERS_EARLY, COUNTS_NO_EXPIRATION } from '../reliability/program-faults.ts';
import { roundsOf } from '../reliability/rounds.ts';
import { runsWithoutReason } from '../reliability/runs.ts';
import { together } from '../reliability/together.ts';
import type { Asked } from '../reliability/traffic.ts';
import { mustBeCaught } from '../support/caught.ts';
import { inPlace } from '../support/server.ts';
import { inTurn, sized } from '../support/tier.ts';

/** On one log, in one round. */
const CYCLES = sized(25, 2);
const CONTROL_CYCLES = sized(4, 2);
const CONTROL_ROUNDS = 5;

const CONTROLS: Readonly<Record<string, readonly [readonly Patch[], RegExp]>> = {
  'answers before it writes': [ANSWERS_EARLY, /record \d+ is (missing|another)/],
  'finds another state in the log': [COUNTS_NO_EXPIRATION, /after record \d+/],
};

async function killed(seed: number, cycles: number, faults: readonly Patch[] = []): Promise<void> {
  await inPlace(async (place) => {
    const { answered } = await live(place, {
      seed,
      lives: cycles,
      faults,
      ends: async (server) => {
        server.kill('SIGKILL');
        await server.ended;
      },
    });
    expect(answered, 'there was a load').to.be.greaterThan(cycles);
  });
}

describe('kill -9 under load', () => {
  const rounds = roundsOf('kill -9', 1, 30_000 + CYCLES * 10_000);

  it(`loses nothing that was acknowledged, ${CYCLES} times`, async () => {
    await rounds.run((seed) => killed(seed, CYCLES));
  }).timeout(rounds.timeoutMs);

  const controlNames = inTurn(Object.keys(CONTROLS));
  const controls = together(controlNames, async (name) => {
    const [faults, words] = CONTROLS[name] as readonly [readonly Patch[], RegExp];
    await mustBeCaught(words, CONTROL_ROUNDS, (seed) => killed(seed, CONTROL_CYCLES, faults));
  });
  for (const name of controlNames) {
    it(`control: a program that ${name} is caught`, () => controls(name)).timeout(300_000);
  }

  it('control: a run without a reason is caught', () => {
    const leases = [2, 4, 6].map((seq) => ({ task_id: 'T1', lease_id: `L${seq}` }));
    const asked = { op: 'lease', params: {}, called: 1, answer: { leases } } as const;
    const history: Asked[] = [asked];
    const expired = { seq: 3, type: 'LeaseExpired', lease_id: 'L2' };
    const failed = { seq: 5, type: 'TaskFailed', lease_id: 'L4', retry_at: 7 };
    expect(runsWithoutReason(history, [expired, failed])).to.deep.equal([]);
    expect(runsWithoutReason(history, [expired])).to.have.length(1);
    const { retry_at: _, ...forGood } = failed;
    expect(runsWithoutReason(history, [expired, forGood])).to.have.length(1);
    expect(runsWithoutReason(history, [{ ...expired, seq: 7 }, failed])).to.have.length(1);
  });
});
