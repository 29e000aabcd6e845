// Owns the comparison of leasehold with its peers of the same run, round by round, and what is
// asked of it.

import { atLeast, ratios, rowOf } from '../../dist/bench/harness.js';

const DURABLE = [
  'beanstalkd -f 0',
  'Redis Streams, always',
  'BullMQ, always',
  'pg-boss',
  'graphile-worker',
];
const TUNED = ['pg-boss', 'graphile-worker'];

/** @param taken results of all rounds by `SYSTEM|SHAPE`. */
export function goalRows(taken) {
  const values = (system, shape, key = 'perSecond') =>
    taken[`${system}|${shape}`]?.map((one) => one[key]);
  const rows = [];
  const compare = (shape, ours, others, key, asked) => {
    const own = values(ours, shape, key);
    const theirs = others.map((name) => values(name, shape, key)).filter((one) => one?.[0]);
    if (own === undefined || theirs.length === 0) return;
    const best = own.map((_, round) => Math.max(...theirs.map((one) => one[round])));
    const ratio = ratios(own, best);
    const against = others.length === 1 ? others[0] : 'the best durable peer';
    const goal = asked === undefined ? {} : { goal: atLeast(ratio, asked) };
    const step = key === 'work' ? ', lease and complete' : key === 'submit' ? ', submit' : '';
    rows.push(rowOf(`${shape}${step}: ${ours} ÷ ${against}`, 'ratio', ratio, goal));
  };
  const [socket, http] = ['leasehold, socket', 'leasehold, HTTP'];
  compare('1 × 1', socket, DURABLE, 'perSecond', undefined);
  compare('16 × 1', socket, DURABLE, 'perSecond', 1.2);
  compare('64 × 1', socket, DURABLE, 'perSecond', 2.5);
  compare('64 × 1', socket, ['beanstalkd -f 50'], 'perSecond', 0.7);
  compare('16 × 64', socket, DURABLE, 'perSecond', undefined);
  compare('16 × 64', socket, ['beanstalkd without a log'], 'perSecond', undefined);
  compare('batches of 500', http, TUNED, 'submit', 2);
  compare('batches of 500', http, TUNED, 'work', 2);
  return rows;
}
