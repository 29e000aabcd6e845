// Owns a log that outlives many lives of the real executable: each life is served under a load over
// HTTP and the socket until something ends it at a moment that follows from the seed. At the end
// all that clients were ever told, and every state that a life began with, is held against the log.

import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { Random } from '../simulator/random.ts';
import { copyProgram, executableOf, type Patch } from './patched.ts';
import { runsWithoutReason } from './runs.ts';
import type { Fields, Place, Server } from './server.ts';
import { otherStates, tellsDigests } from './states.ts';
import { type Asked, Traffic } from './traffic.ts';
import { holdsAll } from './verified.ts';

const CLIENTS = 6;
const LOAD_MIN_MS = 10;
const LOAD_MAX_MS = 150;
/** Some pages, some overflow pages, and a full segment every few lives. */
const PAYLOAD_BYTES = [10, 100, 1_000, 20_000];
const ARGS = ['--log-level', 'warn', '--lease-duration-ms', '500', '--segment-bytes', '1048576'];

export interface LivesOptions {
  readonly seed: number;
  readonly lives: number;
  /** Ends a life: the server is dead when it resolves, and what follows may start. */
  ends(server: Server): Promise<void>;
  /** The program has these faults. */
  readonly faults?: readonly Patch[];
}

export interface Lived {
  /** What the history of answers names, at least: that there was a load. */
  readonly answered: number;
  readonly log: readonly Fields[];
}

/** @throws AssertionError, Error when anything that was acknowledged is lost, or done twice. */
export async function live(place: Place, options: LivesOptions): Promise<Lived> {
  const { seed, lives, faults = [] } = options;
  const told = path.join(place.dir, 'digests');
  const patches = [...tellsDigests(told), ...faults];
  const executable = executableOf(copyProgram(path.join(place.dir, 'program'), patches));
  const dice = new Random(seed, 'ends of lives');
  const history: Asked[] = [];
  let shown: Fields[] = [];
  for (let life = 0; life < lives; life += 1) {
    const server = await place.serve({ args: ARGS, executable }).ready();
    // It is read on while the server lives, so that each life reads its own part only.
    shown = shown.concat(await server.records(Number(shown.at(-1)?.['seq'] ?? 0) + 1));
    const payload = (random: Random): string => 'p'.repeat(random.pick(PAYLOAD_BYTES));
    const traffic = new Traffic(place, { seed: seed * 1_000 + life, clients: CLIENTS, payload });
    await pause(dice.between(LOAD_MIN_MS, LOAD_MAX_MS));
    await options.ends(server);
    await traffic.over;
    traffic.close();
    history.push(...traffic.history);
  }
  const log = await holdsAll(place, history);
  expect(log.slice(0, shown.length), 'what was shown stays').to.deep.equal(shown);
  const unexplained = runsWithoutReason(history, log);
  expect(unexplained, unexplained.slice(0, 3).join('\n')).to.deep.equal([]);
  const starts = log.filter(({ type }) => type === 'CoordinatorStarted');
  expect(starts.length, 'each life began').to.be.at.least(lives + 1);
  const states = await otherStates(told, place.dataDir);
  expect(states.wrong, states.wrong.slice(0, 3).join('\n')).to.deep.equal([]);
  expect(states.told, 'states were told').to.be.at.least(lives);
  return { answered: history.filter(({ answer }) => answer !== undefined).length, log };
}
