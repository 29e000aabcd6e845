// Owns what is asked of leasehold beside its peers and the limits of the same run, round by round:
// what it must reach, what it is meant to reach, and what was seen.

import Table from 'cli-table3';
import { ratios, rowOf, samples } from '../../dist/bench/harness.js';

const [SOCKET, HTTP] = ['leasehold, socket', 'leasehold, HTTP'];
const REDIS = 'Redis Streams, always, raw client';
const TUNED = ['pg-boss', 'graphile-worker'];

/** `most`: of the others, the best of each round. `atMost`: less is better. */
const GOALS = [
  { id: 'P1', shape: '1 × 1', others: ['echo+flush'], must: 0.6, goal: 0.8 },
  { id: 'P2', shape: '16 × 1', others: [REDIS], must: 0.8, goal: 1 },
  { id: 'P3', shape: '64 × 1', others: [REDIS], must: 0.8, goal: 1 },
  { id: 'P3', shape: '64 × 1', others: ['beanstalkd -f 50'], goal: 0.6 },
  { id: 'P4', shape: '16 × 64', others: [REDIS], must: 0.65, goal: 1 },
  {
    id: 'P5',
    ours: HTTP,
    shape: 'batches of 500',
    key: 'submit',
    others: TUNED,
    must: 1.4,
    goal: 2,
  },
  { id: 'P5', ours: HTTP, shape: 'batches of 500', key: 'work', others: TUNED, must: 1.2, goal: 2 },
  { id: 'P6', ours: HTTP, shape: 'submit, 64 × 1', others: ['echo, fastify'], must: 0.9, goal: 1 },
  { id: 'P6', ours: HTTP, shape: '64 × 1', others: ['echo, node:http'], must: 0.6, goal: 0.75 },
  { id: 'P10', shape: 'arrivals', key: 'p99Us', others: [REDIS], atMost: true, must: 1.5, goal: 1 },
  { id: '', shape: 'arrivals', key: 'p99Us', others: ['beanstalkd -f 0'], atMost: true },
  { id: '', shape: '1 × 1', others: ['echo'] },
  { id: '', shape: '16 × 1', others: ['echo'] },
  { id: '', shape: '64 × 1', others: ['echo'] },
  { id: '', shape: '16 × 64', others: ['echo'] },
  { id: '', shape: '64 × 1', others: ['echo+flush'] },
  { id: '', shape: '16 × 64', others: ['echo+flush'] },
];

const STEPS = { submit: 'submit', work: 'lease and complete', p99Us: 'p99' };

function seen({ ours = SOCKET, shape, others, key = 'perSecond', atMost }, taken) {
  const values = (system) => taken[`${system}|${shape}`]?.map((one) => one[key]);
  const own = values(ours);
  const theirs = others.map(values).filter((one) => one?.[0] !== undefined);
  if (own === undefined || theirs.length === 0) return undefined;
  const best = atMost ? Math.min : Math.max;
  return ratios(
    own,
    own.map((_, round) => best(...theirs.map((one) => one[round]))),
  );
}

function measureOf({ ours = SOCKET, shape, others, key }) {
  const step = STEPS[key] === undefined ? '' : `, ${STEPS[key]}`;
  const against = others.length === 1 ? others[0] : `the best of ${others.join(' and ')}`;
  return `${shape}${step}: ${ours} ÷ ${against}`;
}

/** @param taken results of all rounds by `SYSTEM|SHAPE`; what was not measured is left out. */
function judged(taken) {
  return GOALS.flatMap((asked) => {
    const values = seen(asked, taken);
    if (values === undefined) return [];
    const { must, goal, atMost = false } = asked;
    const { median } = samples(values);
    const isKept = (limit) => limit !== undefined && (atMost ? median <= limit : median >= limit);
    const verdict = isKept(goal) ? 'goal' : isKept(must) ? 'must' : 'MISSED';
    const isAsked = must !== undefined || goal !== undefined;
    const sign = atMost ? '≤' : '≥';
    const limits = [must && `must ${sign} ${must}`, goal && `goal ${sign} ${goal}`];
    const text = limits.filter(Boolean).join(', ');
    const more = isAsked ? { goal: { text, kept: verdict !== 'MISSED' } } : {};
    return [
      {
        asked,
        verdict: isAsked ? verdict : '',
        row: rowOf(`${asked.id} ${measureOf(asked)}`.trim(), 'ratio', values, more),
      },
    ];
  });
}

export const goalRows = (taken) => judged(taken).map(({ row }) => row);

/** The table of the goals: median and range of the rounds of this run. */
export function printGoals(taken, write) {
  const table = new Table({
    head: ['#', 'measure', 'must', 'goal', 'seen: median', 'range', ''],
    style: { head: [], border: [] },
    chars: { mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '' },
  });
  for (const { asked, verdict, row } of judged(taken)) {
    const figure = (value) => value.toPrecision(2);
    const limit = (value) => (value === undefined ? '' : `${asked.atMost ? '≤' : '≥'} ${value}`);
    table.push([
      ...[asked.id, measureOf(asked), limit(asked.must), limit(asked.goal)],
      ...[figure(row.median), `${figure(row.min)} – ${figure(row.max)}`, verdict],
    ]);
  }
  write(`${table.toString()}\n`);
}
