// Rehearses bad workers: each is convicted of its own fault and of no other. `SOAK=1` plays every
// scenario, with the executable.

import { expect } from 'chai';
import { inTurn } from '../support/tier.ts';
import {
  byHand,
  curl,
  faultsOf,
  lines,
  pool,
  rehearse,
  rehearseBad,
  type Told,
} from './rehearsal.ts';

const WHOLE = process.env['SOAK'] === '1';

/** The innocent scenario has nothing in which the fault could show; with some there is none. */
const bad: [fault: string, command: string, guilty: string, innocent?: string][] = [
  ['no-heartbeat', byHand('no-heartbeat'), 'long-task', 'report-answer-lost'],
  ['no-heartbeat', pool('dead-thread'), 'long-task', 'report-lost'],
  ['heartbeat-after-report', pool('beats-on'), 'report-lost'],
  ['effect-without-lease', byHand('no-check'), 'frozen-before-effect', 'report-answer-lost'],
  ['effect-without-lease', pool('late-effect'), 'frozen-before-effect', 'report-lost'],
  ['effect-without-lease', byHand('looks-only'), 'woken-among-others', 'frozen-before-effect'],
  ['sent-after-cancelled', byHand('after-cancelled'), 'frozen-after-effect', 'report-lost'],
  ['sent-after-cancelled', lines('fails-after-cancelled'), 'report-delayed', 'report-lost'],
  ['second-report', pool('repeats-rejected', '--batch'), 'report-doubled', 'report-lost'],
  ['second-report', curl('reports-twice'), 'grant-lost'],
  ['old-lease', pool('old-lease'), 'heartbeats-lost', 'report-lost'],
  ['old-lease', curl('previous-lease'), 'report-delayed', 'report-lost'],
  ['report-given-up', pool('drops-unavailable'), 'unavailable', 'report-lost'],
  ['no-report', pool('swallows'), 'payload-no-json', 'report-lost'],
  ['no-report', lines('swallows'), 'payload-no-json', 'report-lost'],
  ['crashed', pool('crashes'), 'payload-no-json', 'report-lost'],
  ['ignores-shutdown', byHand('deaf'), 'sigterm-idle', 'report-lost'],
  ['kept-at-shutdown', pool('keeps'), 'sigterm-at-work', 'report-lost'],
  ['kept-at-shutdown', lines('keeps'), 'sigint-at-work', 'report-lost'],
  ['reported-before-effect', byHand('too-soon'), 'killed-before-report'],
  ['effect-repeated', byHand('repeats'), 'report-answer-lost', 'grant-lost'],
];

/**
 * Played whole, a worker whose heartbeats never end sends them after CANCELLED, too. So does one
 * that reports under an old lease, if it was told CANCELLED under that lease.
 */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ['heartbeat-after-report', 'sent-after-cancelled'],
  ['old-lease', 'sent-after-cancelled'],
]);

describe('a rehearsal of a bad worker', () => {
  for (const [fault, command, guilty, innocent] of inTurn(bad)) {
    const [program] = /[^/]+$/.exec(command) ?? [];
    it(`convicts ${program} of ${fault}, and of nothing else`, async function () {
      this.timeout(240_000);
      const faultsIn = (told: Told, wanted: string) =>
        told.scenarios.find(({ name }) => name === wanted)?.faults.map(({ name }) => name);
      const isConvicted = (told: Told): boolean =>
        faultsOf(told).join() === fault &&
        faultsIn(told, guilty)?.join() === fault &&
        (innocent === undefined || faultsIn(told, innocent)?.length === 0);
      const scenarios = [guilty, ...(innocent === undefined ? [] : [innocent])];
      const told = WHOLE
        ? await rehearse(command, '{"a":1}', '--effects-url')
        : await rehearseBad(command, { scenarios }, isConvicted);
      const found = faultsOf(told).filter((name) => !WHOLE || name !== ELSEWHERE.get(fault));
      expect(found, JSON.stringify(told)).to.deep.equal([fault]);
      expect(told.status).to.equal(1);
      expect(faultsIn(told, guilty)).to.deep.equal([fault]);
      if (innocent !== undefined) expect(faultsIn(told, innocent)).to.deep.equal([]);
    });
  }
});
