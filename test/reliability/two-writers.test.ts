// Two of the real executable on one data directory that do not see each other's lock, as in two
// containers on one volume: the lock belongs to a network namespace. One of them goes on; the other
// ends in words at its first record, and nothing that either acknowledged is lost.

import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { mustBeCaught } from '../support/caught.ts';
import { inPlace, type Place, type Server } from '../support/server.ts';
import { inTurn, isPlayed } from '../support/tier.ts';
import { until } from '../support/waiting.ts';
import { need } from './machine.ts';
import { copyProgram, executableOf } from './patched.ts';
import { BELIEVES_ITSELF } from './program-faults.ts';
import { type Asked, Traffic } from './traffic.ts';
import { holdsAll } from './verified.ts';

/** A network of its own, in which nobody else's addresses and locks exist. */
const ELSEWHERE = [
  'unshare',
  '--net',
  '--fork',
  'sh',
  '-c',
  'ip link set lo up && exec "$@"',
  'sh',
];
const WITHIN_MS = 90_000;
const LEARNS_MS = 60_000;
/** Of programs that never learn of it. */
const CONTROL_LEARNS_MS = 3_000;
const LOAD_MS = 300;
const PARTS = ['under a load', 'at rest'];
const CONTROLS = ['append without asking for the number'];

async function isReady(server: Server): Promise<boolean> {
  return server.over !== undefined || server.out.includes('"msg":"ready"');
}

function endedInWords(server: Server): void {
  expect(server.over).to.deep.equal({ code: 6, signal: null });
  expect(server.err).to.match(/^leasehold: .*another process has written to the log/m);
}

/** @returns what clients of the first were told; one of both has ended then, and the other runs. */
async function underLoad(
  place: Place,
  executable?: string,
  learnsMs = LEARNS_MS,
): Promise<Asked[]> {
  const more = executable === undefined ? {} : { executable };
  const one = await place.serve(more).ready();
  const traffic = new Traffic(place, { seed: 1, clients: 4, pace: () => pause(2) });
  await pause(LOAD_MS);
  const two = place.serve({ ...more, before: ELSEWHERE });
  await until('the second is ready, or ends', () => isReady(two), WITHIN_MS);
  await pause(LOAD_MS);
  await traffic.stop();
  if (two.over === undefined) {
    // Nothing was asked of the first since: it learns of the second at its next record.
    await Promise.race([one.goesOn(WITHIN_MS), one.ended]);
    await Promise.race([one.ended, pause(learnsMs, undefined, { ref: false })]);
  }
  endedInWords(two.over === undefined ? one : two);
  await (two.over === undefined ? two : one).stop();
  return traffic.history;
}

describe('two servers that do not see each other’s lock', () => {
  before(function () {
    need(this, 'linux', 'root');
  });

  if (isPlayed('under a load', PARTS)) {
    it('under a load: one goes on, one ends in words, nothing is lost', async () => {
      await inPlace(async (place) => {
        await holdsAll(place, await underLoad(place));
      });
    }).timeout(180_000);
  }

  if (isPlayed('at rest', PARTS)) {
    it('at rest: the newer one has the log, the older one ends at its next record', async () => {
      await inPlace(async (place) => {
        const one = await place.serve().ready();
        expect(await one.goesOn(WITHIN_MS)).to.equal(true);
        const two = place.serve({ before: ELSEWHERE });
        await until('the second is ready', () => isReady(two), WITHIN_MS);
        expect(two.over, two.err).to.equal(undefined);
        expect(await one.goesOn(WITHIN_MS), 'it is told that it did not happen').to.equal(false);
        await until('the first ended', () => one.over !== undefined, WITHIN_MS);
        endedInWords(one);
        expect(await two.stop()).to.deep.equal({ code: 0, signal: null });
        await holdsAll(place, []);
      });
    }).timeout(180_000);
  }

  for (const name of inTurn(CONTROLS)) {
    it(`control: programs that ${name} are caught`, async () => {
      // Both go on, or the log shows it, or one of them finds what is not its own.
      await mustBeCaught(/record \d+|expected undefined|INVARIANT/, 2, () =>
        inPlace(async (place) => {
          const copy = copyProgram(path.join(place.dir, 'program'), BELIEVES_ITSELF);
          const history = await underLoad(place, executableOf(copy), CONTROL_LEARNS_MS);
          await holdsAll(place, history);
        }),
      );
    }).timeout(180_000);
  }
});
