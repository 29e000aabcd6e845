// The power goes while the real executable works on an ext4: what the kernel had not flushed is
// lost, the journal is played, the program starts on what is left. It must be all that was
// acknowledged. Programs that answer early, or do not flush, must be caught; kill -9 never does.

import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { mustBeCaught } from '../support/caught.ts';
import { Place } from '../support/server.ts';
import { inTurn, isPlayed, sized } from '../support/tier.ts';
import { Ext4 } from './ext4.ts';
import { type Lived, type LivesOptions, live } from './lives.ts';
import { need } from './machine.ts';
import type { Patch } from './patched.ts';
import { ANSWERS_EARLY, FLUSHES_NO_META_PAGE, NEVER_FLUSHES } from './program-faults.ts';
import { roundsOf } from './rounds.ts';
import { together } from './together.ts';

/** Power cuts of one round; `soak -- power` plays 250 of these. */
const CUTS = sized(4, 2);
const CONTROL_CUTS = 2;
/** Until some segments are full. */
const FORGETTING_CUTS = sized(6, 4);
const DARK_MAX_MS = 30;
const CONTROL_ROUNDS = 8;
const COURSES = ['on one disk', 'while history is removed'];

/** What a check says of acknowledged records that the power took. */
const LOST = /record \d+|there is no log|what was shown stays/;

const CONTROLS: Readonly<Record<string, readonly Patch[]>> = {
  'answers before the flush': ANSWERS_EARLY,
  'never flushes': NEVER_FLUSHES,
  'does not flush the last page of a commit': FLUSHES_NO_META_PAGE,
};

type Course = Pick<LivesOptions, 'seed' | 'lives' | 'faults' | 'retentionMs'>;

async function cutPower(course: Course): Promise<Lived> {
  const place = await Place.open('disk/data');
  const disk = new Ext4(place.dir, 'disk');
  try {
    return await live(place, {
      ...course,
      ends: async (server) => {
        disk.cutPower();
        // What it says in the dark must not be an acknowledgement.
        await pause(DARK_MAX_MS);
        server.kill('SIGKILL');
        await server.ended;
        await disk.comeBack();
      },
    });
  } finally {
    await place.end();
    disk.close();
    await place.close();
  }
}

describe('the power is cut under a load', () => {
  const rounds = roundsOf('power cut', 1, 60_000);
  before(function () {
    need(this, 'linux', 'root', 'cc', 'ext4');
  });

  if (isPlayed('on one disk', COURSES)) {
    it(`${CUTS} times on one disk: nothing that was acknowledged is lost`, async () => {
      await rounds.run(async (seed) => {
        const { answered } = await cutPower({ seed, lives: CUTS });
        expect(answered, 'there was a load').to.be.at.least(CUTS);
      });
    }).timeout(rounds.timeoutMs);
  }

  if (isPlayed('while history is removed', COURSES)) {
    it('while forgotten history is removed: nothing else is lost', async () => {
      await rounds.run(async (seed) => {
        const { log } = await cutPower({ seed, lives: FORGETTING_CUTS, retentionMs: 100 });
        const last = Number(log.at(-1)?.['seq']);
        expect(last - log.length, 'records that were removed').to.be.greaterThan(0);
      });
    }).timeout(rounds.timeoutMs);
  }

  const controlNames = inTurn(Object.keys(CONTROLS));
  const controls = together(controlNames, async (name) => {
    const faults = CONTROLS[name] as readonly Patch[];
    const play = (seed: number): Promise<Lived> => cutPower({ seed, lives: CONTROL_CUTS, faults });
    await mustBeCaught(LOST, CONTROL_ROUNDS, play);
  });
  for (const name of controlNames) {
    const timeoutMs = CONTROL_ROUNDS * 60_000;
    it(`control: a program that ${name} is caught`, () => controls(name)).timeout(timeoutMs);
  }
});
