// Plays years in seconds on the real executable: tasks come, end, are forgotten and removed, over
// many small segments, while one task waits. The log stays small, a follower and explain go on
// through every rewrite and merge, the archive has what went, and damage in what was made anew is
// refused by number.

import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { EXECUTABLE } from '../../src/play/demo/processes.ts';
import { samplesOf, valueOf } from '../metrics/exposition.ts';
import { HttpLink } from '../support/links.ts';
import { cleanEnv, type Fields, inPlace, type Place, type Server } from '../support/server.ts';
import { inTurn, sized } from '../support/tier.ts';
import { until } from '../support/waiting.ts';
import { verify } from './verified.ts';

const ROUNDS = sized(200, 100);
const PAYLOAD = 'p'.repeat(30_000);
const SEGMENT_BYTES = 1_048_576;
const KNOBS = ['--retention-ms', '200', '--segment-bytes', String(SEGMENT_BYTES)];
const WITHIN_MS = 90_000;

async function finishOne(link: HttpLink): Promise<string> {
  const submitted = await link.call('submit', { payload: PAYLOAD });
  const { leases } = await link.call('lease', { worker_id: 'w' });
  const [{ task_id, lease_id }] = leases as [Fields];
  expect((await link.call('complete', { task_id, lease_id })).outcome).to.equal('COMMITTED');
  expect(task_id).to.equal(submitted['task_id']);
  return String(task_id);
}

/** Numbers as a follower from the first record on gets them. */
function follow(place: Place): { readonly seen: number[]; end(): void } {
  const seen: number[] = [];
  const at = { host: '127.0.0.1', port: place.httpPort, path: '/v1/log?follow=true&from=1' };
  const request = http.get({ ...at, agent: false }, (response) => {
    response.on('error', () => {});
    const lines = createInterface({ input: response });
    lines.on('line', (line) => void seen.push(Number((JSON.parse(line) as Fields)['seq'])));
    lines.on('error', () => {});
  });
  request.on('error', () => {});
  return { seen, end: () => request.destroy() };
}

const run = (...args: string[]): Promise<{ status: number | null; out: string; err: string }> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, [EXECUTABLE, ...args], { env: cleanEnv() });
    let [out, err] = ['', ''];
    child.stdout.on('data', (data) => (out += String(data)));
    child.stderr.on('data', (data) => (err += String(data)));
    child.on('close', (status) => resolve({ status, out, err }));
  });

async function logBytes(server: Server): Promise<{ live: number; forgotten: number }> {
  const samples = samplesOf(await (await fetch(`${server.url}/metrics`)).text());
  const of = (state: string): number => valueOf(samples, 'leasehold_log_bytes', { state });
  return { live: of('live'), forgotten: of('forgotten') };
}

const segmentsOf = (place: Place): string[] => fs.readdirSync(path.join(place.dataDir, 'log'));

describe('years in seconds', () => {
  it('leave a small log, readers who noticed nothing, and an archive of all of it', async () => {
    await inPlace(async (place) => {
      const archive = path.join(place.dir, 'archive');
      const args = [...KNOBS, '--archive-dir', archive];
      const server = await place.serve({ args }).ready();
      const link = new HttpLink(place.httpPort);
      const { task_id: patient } = await link.call('submit', { payload: 'x', queue: 'patient' });
      const follower = follow(place);
      const finished: string[] = [];
      let offline: ReturnType<typeof run> | undefined;
      for (let round = 0; round < ROUNDS; round += 1) {
        finished.push(await finishOne(link));
        if (round % 20 !== 0) continue;
        const told = await (await fetch(`${server.url}/v1/tasks/${patient}/explain`)).json();
        expect(told, `round ${round}`).to.have.nested.property('now.state', 'WAITING');
        offline ??= run('explain', '--data-dir', place.dataDir, String(patient));
      }
      const beside = await offline;
      expect(beside?.status, beside?.err).to.equal(0);
      // What is left of years is the task that waits, and the segment that is not sealed yet.
      await until('the segments become few', () => segmentsOf(place).length <= 4, WITHIN_MS);
      const { live, forgotten } = await logBytes(server);
      expect(live + forgotten).to.be.lessThan(3 * SEGMENT_BYTES);
      expect(finished.length * PAYLOAD.length).to.be.greaterThan((ROUNDS / 40) * SEGMENT_BYTES);
      const last = Number((await link.call('stats', {}))['log_last_sequence']);
      // More may follow: that the last tasks are forgotten is recorded later.
      const hasAll = (): boolean => (follower.seen.at(-1) ?? 0) >= last;
      await until(`the follower has all ${last} records`, hasAll, WITHIN_MS);
      follower.end();
      const { seen } = follower;
      expect(seen).to.deep.equal(Array.from({ length: seen.length }, (_, i) => i + 1));
      expect(String((await link.call('task', { task_id: patient }))['state'])).to.equal('WAITING');
      link.close();
      expect(await server.stop(), server.err).to.deep.equal({ code: 0, signal: null });
      await Promise.all([verify(place.dataDir), verify(archive)]);
      const story = await run('explain', '--data-dir', archive, finished[3] as string);
      expect(story.status, story.err).to.equal(0);
      expect(story.out).to.match(/^T\d+ .* COMPLETED$/m);
      const again = await place.serve({ args }).ready();
      const after = await logBytes(again);
      expect(after.live, 'right after a restart').to.be.greaterThan(0);
      expect(after.live + after.forgotten).to.be.at.most(live + forgotten + SEGMENT_BYTES / 4);
      await again.stop();
      for (const refuses of inTurn([refusesDamage])) await refuses(place);
    });
  }).timeout(300_000);
});

/** Of every page of what was rewritten, one byte in the middle. */
async function refusesDamage(place: Place): Promise<void> {
  const name = segmentsOf(place).find((one) => !one.endsWith('-0')) as string;
  const file = path.join(place.dataDir, 'log', name, 'data.mdb');
  const bytes = fs.readFileSync(file);
  for (let at = 2 * 4_096; at < bytes.length; at += 4_096) {
    bytes.fill(0xff, at + 3_000, at + 4_090);
  }
  fs.writeFileSync(file, bytes);
  const verified = await run('verify', '--data-dir', place.dataDir);
  expect(verified.status).to.equal(1);
  expect(verified.err).to.match(/record \d+/);
  const server = place.serve({ args: KNOBS });
  expect(await server.ended).to.deep.equal({ code: 6, signal: null });
  expect(server.err).to.match(/record \d+/);
}
