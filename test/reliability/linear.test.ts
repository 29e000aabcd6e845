// Many clients at once against the real executable: what they were told must be what one
// coordinator would have told them one after another, in an order that agrees with the clock on
// the wall: the order of the log.

import path from 'node:path';
import { expect } from 'chai';
import { openLmdbReader } from '../../src/log/lmdb-reader.ts';
import type { LogRecord } from '../../src/model/records.ts';
import { FAULTS } from '../simulator/faults.ts';
import { Random } from '../simulator/random.ts';
import { mustBeCaught } from '../support/caught.ts';
import { type Fields, Place } from '../support/server.ts';
import { inTurn, sized } from '../support/tier.ts';
import { Crowd } from './crowd.ts';
import { compare } from './history.ts';
import { copyProgram, executableOf, type Patch } from './patched.ts';
import { roundsOf } from './rounds.ts';
import { searchTasks } from './task-search.ts';
import type { Asked } from './traffic.ts';
import { nothingIn } from './verified.ts';
import { Witness } from './witness.ts';

const REQUESTS = Number(process.env['REQUESTS'] ?? sized(50_000, 3_000));
const CONTROL_REQUESTS = sized(3_000, 2_000);
/** What of the planted fault comes up is chance. */
const CONTROL_ROUNDS = 3;
const WRONG = /record \d+|T\d+/;
const LIES = sized(30, 10);
/** Of the faults that are planted in the simulator. */
const CONTROLS = [
  'a stale lease is accepted',
  'tasks that came back are leased before older ones',
  'a task that was redriven is redriven again',
];
const LIE = 'one answer that was another one';
const KNOBS = {
  leaseDurationMs: 160,
  heartbeatIntervalMs: 52,
  executionWindowMs: 400,
  maxRetries: 2,
  backoffMs: 0,
  backoffFactor: 1,
  poisonThreshold: 4,
  retentionMs: 0,
  retentionFailedMs: 0,
  answerMaxBytes: 16_777_216,
};
const ARGS = [
  ...['--lease-duration-ms', '160', '--heartbeat-interval-ms', '52', '--max-retries', '2'],
  ...['--execution-window-ms', '400', '--backoff-ms', '0', '--poison-threshold', '4'],
  ...['--tick-ms', '10', '--log-level', 'error'],
];

describe('linearizability', () => {
  const rounds = roundsOf('linearizability', 1, 60_000 + REQUESTS * 4);
  let place: Place;
  beforeEach(async () => {
    place = await Place.open();
  });
  afterEach(() => place.close());

  /** A place of its own for each round. */
  async function again(): Promise<void> {
    await place.close();
    place = await Place.open();
  }

  /** Plays a crowd and reads what it left. */
  async function play(seed: number, requests: number, executable?: string) {
    const copy = executable === undefined ? {} : { executable };
    const server = await place.serve({ args: ARGS, ...copy }).ready();
    const history = await new Crowd(place, { seed, clients: 12, depth: 8, requests }).run();
    const lines = await server.records();
    expect(await server.stop()).to.deep.equal({ code: 0, signal: null });
    const reader = await openLmdbReader(place.dataDir);
    const records = [...reader.read(1)];
    await reader.close();
    return { history, records, lines };
  }

  it(`holds for ${REQUESTS} requests`, async () => {
    await rounds.run(async (seed) => {
      const { history, records, lines } = await play(seed, REQUESTS);
      expect(wrongIn(history, records, lines)).to.deep.equal([]);
      const types = new Set(records.map(({ type }) => type));
      for (const type of ['LeaseExpired', 'TaskCancelled', 'TaskDead', 'LeaseExtended'] as const) {
        expect(types, 'something of everything happened').to.include(type);
      }
      await again();
    });
  }).timeout(rounds.timeoutMs);

  const controls = inTurn([...CONTROLS, LIE]);
  for (const name of controls.filter((one) => one !== LIE)) {
    it(`control: it does not when ${name}`, async () => {
      const fault = FAULTS.find((one) => one.name === name);
      const patches = fault?.changes.map(([from, to]) => ({ from, to }));
      expect(patches, 'the planted fault').to.not.equal(undefined);
      const dist = copyProgram(path.join(place.dir, 'program'), patches as Patch[]);
      await mustBeCaught(WRONG, CONTROL_ROUNDS, async (seed) => {
        const { history, records, lines } = await play(seed, CONTROL_REQUESTS, executableOf(dist));
        await again();
        nothingIn(wrongIn(history, records, lines));
      });
    }).timeout(300_000);
  }

  const playsLie = async (): Promise<void> => {
    const { history, records, lines } = await play(2, CONTROL_REQUESTS);
    expect(wrongIn(history, records, lines)).to.deep.equal([]);
    const dice = new Random(1, 'lies');
    const unseen: string[] = [];
    const unseenBySearch: string[] = [];
    const killed = killedIn(history);
    let resting = 0;
    for (let lies = 0; lies < LIES; lies += 1) {
      const [told, place] = lie(history, dice);
      const words = `${JSON.stringify(history[place])} told as ${JSON.stringify(told[place])}`;
      if (new Witness(KNOBS, records, told).look().length === 0) unseen.push(words);
      if (!restsOnOrder(history[place] as Asked, killed)) continue;
      resting += 1;
      if (searchTasks(told, KNOBS).length === 0) unseenBySearch.push(words);
    }
    expect(unseen).to.deep.equal([]);
    expect(unseenBySearch).to.deep.equal([]);
    expect(resting).to.be.greaterThan(0);
  };
  if (controls.includes(LIE)) it(`control: ${LIE} is found`, playsLie).timeout(300_000);
});

/** The history with one answer that is right at no moment, whatever happened at the same time. */
function lie(history: readonly Asked[], dice: Random): [Asked[], number] {
  for (;;) {
    const place = dice.below(history.length);
    const asked = history[place] as Asked;
    const answer = OPPOSITE[`${asked.op} ${asked.answer?.['outcome']}`]?.(asked.answer as Fields);
    if (answer !== undefined) return [history.with(place, { ...asked, answer }), place];
  }
}

/** Tasks that ended by a request. */
const killedIn = (history: readonly Asked[]): ReadonlySet<unknown> =>
  new Set(
    history
      .filter(({ op, answer }) => op === 'kill' && answer?.['outcome'] === 'COMMITTED')
      .map(({ params }) => params['task_id']),
  );

/**
 * The search knows the order of requests and no time. A lease may have run out for it whenever that
 * explains an answer, and a task may have ended by the poison rule: such lies it cannot see.
 */
function restsOnOrder({ op, params, answer }: Asked, killed: ReadonlySet<unknown>): boolean {
  if (op !== 'complete') return true;
  const { outcome, reason } = answer as Fields;
  if (outcome === 'COMMITTED' || reason === 'lease_expired') return false;
  return reason !== 'task_dead' || killed.has(params['task_id']);
}

const OVER_BY_REPORT: readonly unknown[] = ['already_reported', 'task_terminal'];

const OPPOSITE: Readonly<Record<string, (answer: Fields) => Fields>> = {
  'complete COMMITTED': ({ record }) => ({
    outcome: 'CANCELLED',
    reason: 'lease_expired',
    record,
  }),
  'complete CANCELLED': ({ record }) => ({
    outcome: 'COMMITTED',
    task_state: 'COMPLETED',
    record,
  }),
  // A lease that was reported never expires, and one that expired is never reported; but which of
  // "expired", "superseded" and "killed" holds may have changed between the call and the return.
  'heartbeat REJECTED': ({ reason, ...answer }) => ({
    ...answer,
    reason: OVER_BY_REPORT.includes(reason) ? 'lease_superseded' : 'already_reported',
  }),
  'kill REJECTED': (answer) => ({ ...answer, task_state: 'WAITING' }),
};

function wrongIn(
  history: readonly Asked[],
  records: readonly LogRecord[],
  lines: readonly Fields[],
): string[] {
  return [
    ...compare(history, lines),
    ...new Witness(KNOBS, records, history).look(),
    ...searchTasks(history, KNOBS),
  ].slice(0, 10);
}
