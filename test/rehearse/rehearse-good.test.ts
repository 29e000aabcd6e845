// Rehearses good workers: they keep the contract. `SOAK=1` plays every scenario, with the
// executable.

import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { inTurn } from '../support/tier.ts';
import {
  byHand,
  careful,
  curl,
  faultsOf,
  type HereOptions,
  lines,
  pool,
  rehearse,
  rehearseHere,
} from './rehearsal.ts';

const EXAMPLES = fileURLToPath(new URL('../examples/', import.meta.url));
const PYTHON = fileURLToPath(new URL('../../../docs/examples/worker.py', import.meta.url));
const SHELL = fileURLToPath(new URL('../../../docs/examples/worker.sh', import.meta.url));
const WHOLE = process.env['SOAK'] === '1';

const good: Record<string, HereOptions & { readonly command: string }> = {
  'the Worker with a ledger': {
    command: careful(),
    scenarios: [
      'execution-window',
      'frozen-before-effect',
      'report-answer-lost',
      'sigterm-at-work',
      'long-task',
    ],
  },
  'a worker over plain HTTP': {
    command: byHand(),
    scenarios: ['frozen-after-effect', 'report-delayed', 'unavailable'],
  },
  'a pool in Python that takes tasks in advance, with every request in a batch': {
    command: pool('--capacity 2 --prefetch 3 --batch'),
    scenarios: ['report-doubled', 'sigterm-at-work', 'unavailable', 'long-task'],
  },
  'a pool in Python that polls': {
    command: pool('--capacity 4 --poll 30'),
    scenarios: ['report-delayed', 'heartbeats-lost', 'payload-no-json', 'sigint-at-work'],
  },
  'a worker of bash and curl': {
    command: curl(),
    scenarios: [
      'report-answer-cut',
      'unavailable',
      'frozen-before-effect',
      'confirmation-lost',
      'sigterm-at-work',
    ],
  },
  'a worker over the bare line socket, four tasks at a time': {
    command: lines(),
    scenarios: [
      'report-delayed',
      'sigterm-at-work',
      'heartbeat-answers-lost',
      'confirmation-unavailable',
      'grant-cut',
    ],
  },
  'the loop of the documents': {
    command: `exec node ${EXAMPLES}loop.js`,
    payload: '{"name":"Ada"}',
    queue: 'greet',
    effects: false,
    scenarios: ['killed-before-report', 'frozen-before-effect', 'report-answer-cut'],
  },
  'the worker in Python, over the line socket': {
    command: `exec python3 ${PYTHON} 127.0.0.1 $LEASEHOLD_SOCKET_PORT sums`,
    payload: '{"add":[1,2],"seconds":0.1}',
    queue: 'sums',
    effects: false,
    scenarios: ['killed-before-effect', 'report-answer-lost', 'payload-no-json'],
  },
  'the worker in the shell, which does one task and ends': {
    command: `exec bash ${SHELL} 127.0.0.1 $LEASEHOLD_SOCKET_PORT shout`,
    payload: 'quiet, please',
    queue: 'shout',
    effects: false,
    scenarios: ['killed-before-report', 'report-doubled', 'two-at-once'],
  },
};

describe('a rehearsal of a good worker', () => {
  for (const [name, { command, ...options }] of inTurn(Object.entries(good))) {
    it(`finds that ${name} keeps the contract`, async function () {
      this.timeout(WHOLE ? 1_200_000 : 240_000);
      const { payload = '{"a":1}', queue = 'default', effects = true, scenarios } = options;
      const more = ['--queue', queue, ...(effects ? ['--effects-url'] : [])];
      const told = WHOLE
        ? await rehearse(command, payload, ...more)
        : await rehearseHere(command, options);
      expect(faultsOf(told), JSON.stringify(told)).to.deep.equal([]);
      expect(told.status, told.err).to.equal(0);
      expect(told.scenarios.length).to.be.greaterThan(scenarios.length);
    });
  }

  it('plays both things to their end, in whatever order the seed names them', async () => {
    // This seed doubles a report and loses one. The report that is doubled arrives, and no other
    // would come.
    const told = await rehearseHere(careful(), { scenarios: ['two-at-once'], seed: 21 });
    expect(told.status, JSON.stringify(told)).to.equal(0);
  }).timeout(240_000);
});
