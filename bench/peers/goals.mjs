// Owns what is asked of leasehold beside its peers and the limits of the same run, round by round:
// what it must reach, what it is meant to reach, and what was seen.

import { ratios, rowOf, samples } from '../../dist/bench/harness.js';

const [SOCKET, HTTP] = ['leasehold, socket', 'leasehold, HTTP'];
const REDIS = 'Redis Streams, always, raw client';
const TUNED = ['pg-boss', 'graphile-worker'];

/** `others`: of several, the best of each round. `atMost`: less is better. */
const GOALS = [
  {
    id: 'P1',
    ...{ shape: '1 × 1', others: ['echo+flush'], must: 0.6, goal: 0.8 },
    means: 'one client, one request at a time; 1 is all that a flush before each answer allows',
  },
  {
    id: 'P2',
    ...{ shape: '16 × 1', others: [REDIS], must: 0.8, goal: 1 },
    means: '16 workers, beside a Redis that flushes before each answer too',
  },
  {
    id: 'P3',
    ...{ shape: '64 × 1', others: [REDIS], must: 0.8, goal: 1 },
    means: '64 workers, beside the same',
  },
  {
    id: 'P3',
    ...{ shape: '64 × 1', others: ['beanstalkd -f 50'], goal: 0.6 },
    means: 'beside a queue that may lose the last 50 ms in a power cut',
  },
  {
    id: 'P4',
    ...{ shape: '16 × 64', others: [REDIS], must: 0.65, goal: 1 },
    means: '16 clients with 64 tasks in flight each: how much gets through at all',
  },
  {
    id: 'P5',
    ...{ ours: HTTP, shape: 'batches of 500', key: 'submit', others: TUNED, must: 1.4, goal: 2 },
    means: 'one client that submits in batches, beside queues in Postgres',
  },
  {
    id: 'P5',
    ...{ ours: HTTP, shape: 'batches of 500', key: 'work', others: TUNED, must: 1.2, goal: 2 },
    means: 'the same tasks worked off in batches',
  },
  {
    id: 'P6',
    ...{ ours: HTTP, shape: 'submit, 64 × 1', others: ['echo, fastify'], must: 0.9, goal: 1 },
    means: 'HTTP, beside a route that keeps nothing',
  },
  {
    id: 'P6',
    ...{ ours: HTTP, shape: '64 × 1', others: ['echo, node:http'], must: 0.6, goal: 0.75 },
    means: 'HTTP, beside a server that answers the same bytes to all',
  },
  {
    id: 'P10',
    ...{ shape: 'arrivals', key: 'p99Us', others: [REDIS], atMost: true, must: 1.5, goal: 1 },
    means: "the slowest hundredth of submits that come at half of P3's rate; less is better",
  },
  { shape: 'arrivals', key: 'p99Us', others: ['beanstalkd -f 0'], atMost: true },
  { shape: '1 × 1', others: ['echo'] },
  { shape: '16 × 1', others: ['echo'] },
  { shape: '64 × 1', others: ['echo'] },
  { shape: '16 × 64', others: ['echo'] },
  { shape: '64 × 1', others: ['echo+flush'] },
  { shape: '16 × 64', others: ['echo+flush'] },
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
    const verdict = isKept(goal) ? 'goal' : isKept(must) ? 'must' : 'missed';
    const isAsked = must !== undefined || goal !== undefined;
    const sign = atMost ? '≤' : '≥';
    const limits = [must && `must ${sign} ${must}`, goal && `goal ${sign} ${goal}`];
    const text = limits.filter(Boolean).join(', ');
    const more = isAsked ? { goal: { text, kept: verdict !== 'missed' } } : {};
    return [
      {
        asked,
        verdict: isAsked ? verdict : '',
        row: rowOf(`${asked.id ?? ''} ${measureOf(asked)}`.trim(), 'ratio', values, more),
      },
    ];
  });
}

export const goalRows = (taken) => judged(taken).map(({ row }) => row);

const figure = (value) => value.toPrecision(2);
const limit = (value, atMost) => (value === undefined ? '–' : `${atMost ? '≤' : '≥'} ${value}`);

/**
 * The table of docs/PERFORMANCE.md, as it stands there: Markdown. After it, what leasehold reached
 * beside systems of which nothing is asked.
 */
export function printGoals(taken, write) {
  const rows = judged(taken);
  const seenIn = ({ median, min, max }) => `${figure(median)} (${figure(min)} – ${figure(max)})`;
  write('\n| # | measure | must | goal | seen: median (range) | | what it is |\n');
  write('|---|---|---|---|---|---|---|\n');
  for (const { asked, verdict, row } of rows.filter(({ asked: { id } }) => id !== undefined)) {
    const limits = [limit(asked.must, asked.atMost), limit(asked.goal, asked.atMost)];
    const cells = [asked.id, measureOf(asked), ...limits, seenIn(row), verdict, asked.means];
    write(`| ${cells.join(' | ')} |\n`);
  }
  write('\nbeside them, without a goal:\n');
  for (const { asked, row } of rows.filter(({ asked: { id } }) => id === undefined)) {
    write(`  ${measureOf(asked)}: ${seenIn(row)}\n`);
  }
  write('\n');
}
