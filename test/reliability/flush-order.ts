// Owns the proof that answers wait for the flush, as the kernel saw it: at the moment in which the
// bytes of an answer begin to leave, what had been flushed until then must hold every record that
// the answer tells of.

import path from 'node:path';
import type { Place } from '../support/server.ts';
import { FlushedLog } from './flushed.ts';
import { steps, traced } from './trace.ts';
import { Traffic } from './traffic.ts';

/** Numbers of records in the bytes of an answer, whatever it is an answer to. */
const TOLD = new RegExp(
  '"(?:record|first_record|seq|lease_id|task_id|origin_task_id)":"?[TL]?(\\d+)|' +
    'leasehold_log_last_sequence (\\d+)',
  'g',
);

export interface Found {
  answers: number;
  /** A sentence for each answer that left too early. */
  early: string[];
  /** Threads that wrote to a segment, and to one that had no name yet. */
  readonly writers: Set<number>;
  readonly makers: Set<number>;
}

const SEGMENT = /\/log\/\d{8}-\d+\/data\.mdb$/;
const UNNAMED = /\/log\/tmp-[^/]+\/data\.mdb$/;

export interface FlushLoad {
  readonly seed: number;
  readonly clients: number;
  readonly rounds: number;
  readonly executable?: string;
}

/** Serves a load under the tracer and holds each answer against what was flushed before it. */
export async function answersOf(place: Place, load: FlushLoad): Promise<Found> {
  const { seed, clients, rounds, executable } = load;
  const file = path.join(place.dir, 'trace');
  const args = ['--log-level', 'warn', '--lease-duration-ms', '400'];
  const more = executable === undefined ? {} : { executable };
  const server = place.serve({ args, before: traced(file), ...more });
  await server.ready();
  const following = new AbortController();
  const follower = fetch(`${server.url}/v1/log?follow=true`, { signal: following.signal })
    .then((response) => response.text())
    .catch(() => {});
  const traffic = new Traffic(place, { seed, clients, rounds });
  await traffic.over;
  traffic.close();
  await fetch(`${server.url}/metrics`).then((response) => response.text());
  following.abort();
  await follower;
  await server.stop();
  return compare(file, new FlushedLog(place.dataDir, path.join(place.dir, 'image')));
}

async function compare(file: string, flushed: FlushedLog): Promise<Found> {
  const found: Found = { answers: 0, early: [], writers: new Set(), makers: new Set() };
  for await (const step of steps(file)) {
    const { phase, call, thread } = step;
    flushed.take(step);
    if (call.kind === 'write' && SEGMENT.test(call.path)) found.writers.add(thread);
    if (call.kind === 'write' && UNNAMED.test(call.path)) found.makers.add(thread);
    if (call.kind !== 'write' || phase !== 'begins' || !/^(socket|TCP)/.test(call.path)) continue;
    const text = call.bytes.toString('latin1');
    const numbers = [...text.matchAll(TOLD)].map(([, a, b]) => Number(a ?? b));
    const told = Math.max(0, ...numbers);
    if (told === 0) continue;
    found.answers += 1;
    if (told <= flushed.last) continue;
    found.early.push(`${told} is told, ${flushed.last} flushed: ${text.slice(-200)}`);
  }
  return found;
}
