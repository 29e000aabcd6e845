// Owns a log that outlives many lives of the real executable: each life is served under a load over
// HTTP and the socket until something ends it at a moment that follows from the seed. At the end
// all that clients were ever told, and every state that a life began with, is held against the log.

import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { Random } from '../simulator/random.ts';
import type { Fields, Place, Server } from '../support/server.ts';
import { until } from '../support/waiting.ts';
import { compare } from './history.ts';
import { copyProgram, executableOf, type Patch } from './patched.ts';
import { runsWithoutReason } from './runs.ts';
import { otherStates, tellsDigests } from './states.ts';
import { type Asked, Traffic } from './traffic.ts';
import { holdsAll, nothingIn, verify } from './verified.ts';

const CLIENTS = 6;
/** A life ends after so many answers, and within some milliseconds after the last of them. */
const ANSWERS = [1, 120] as const;
const ANSWERS_THAT_FILL = [200, 300] as const;
const MOMENT_MS = 10;
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
  /** Tasks that ended are forgotten after this, and removed from the log; absent: never. */
  readonly retentionMs?: number;
}

export interface Lived {
  /** What the history of answers names, at least: that there was a load. */
  readonly answered: number;
  readonly log: readonly Fields[];
}

/** @throws AssertionError, Error when anything that was acknowledged is lost, or done twice. */
export async function live(place: Place, options: LivesOptions): Promise<Lived> {
  const { seed, lives, faults = [], retentionMs = 0 } = options;
  const told = path.join(place.dir, 'digests');
  const patches = [...tellsDigests(told), ...faults];
  const executable = executableOf(copyProgram(path.join(place.dir, 'program'), patches));
  const dice = new Random(seed, 'ends of lives');
  const retention = ['--retention-ms', '--retention-failed-ms'].flatMap((flag) => [
    flag,
    `${retentionMs}`,
  ]);
  let history: Asked[] = [];
  let shown: Fields[] = [];
  for (let life = 0; life < lives; life += 1) {
    const server = await place.serve({ args: [...ARGS, ...retention], executable }).ready();
    // It is read on while the server lives, so that each life reads its own part only.
    shown = shown.concat(await server.records(Number(shown.at(-1)?.['seq'] ?? 0) + 1));
    const payload = (random: Random): string => 'p'.repeat(random.pick(PAYLOAD_BYTES));
    const traffic = new Traffic(place, { seed: seed * 1_000 + life, clients: CLIENTS, payload });
    const [least, most] = retentionMs > 0 ? ANSWERS_THAT_FILL : ANSWERS;
    const answers = dice.between(least, most);
    await until('it answers', () => answeredIn(traffic.history) >= answers);
    await pause(dice.below(MOMENT_MS));
    await options.ends(server);
    await traffic.over;
    traffic.close();
    history = history.concat(traffic.history);
  }
  const answered = answeredIn(history);
  if (retentionMs > 0) return { answered, log: await holdsWhatIsKept(place, history) };
  const log = await holdsAll(place, history);
  expect(log.slice(0, shown.length), 'what was shown stays').to.deep.equal(shown);
  nothingIn(runsWithoutReason(history, log));
  const starts = log.filter(({ type }) => type === 'CoordinatorStarted');
  expect(starts.length, 'each life began').to.be.at.least(lives);
  const states = await otherStates(told, place.dataDir);
  nothingIn(states.wrong);
  expect(states.told, 'states were told').to.be.at.least(lives);
  return { answered, log };
}

const answeredIn = (history: readonly Asked[]): number =>
  history.filter(({ answer }) => answer !== undefined).length;

/** Only what was forgotten may be gone, and only what a flushed record says is forgotten. */
async function holdsWhatIsKept(
  place: Place,
  history: readonly Asked[],
): Promise<readonly Fields[]> {
  const server = await place.serve({ args: ['--retention-ms', '0'] }).ready();
  const log = await server.records();
  await server.stop();
  const through = log.flatMap((line) =>
    line['type'] === 'HistoryForgotten' ? [line['completed_through'], line['failed_through']] : [],
  );
  const forgotten = (through as number[]).reduce((most, one) => Math.max(most, one), 0);
  const kept = new Set(log.map(({ seq }) => seq));
  const isForgotten = (sentence: string): boolean => {
    const [, seq] = /: record (\d+) is (?:missing|no report for \w+)$/.exec(sentence) ?? [];
    return seq !== undefined && Number(seq) <= forgotten && !kept.has(Number(seq));
  };
  nothingIn(compare(history, log).filter((sentence) => !isForgotten(sentence)));
  await verify(place.dataDir);
  return log;
}
