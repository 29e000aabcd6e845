// The command line and a server that goes away in the middle of what it was asked.

import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { EXECUTABLE, Process } from '../../src/play/demo/processes.ts';
import { cleanEnv } from '../support/server.ts';
import { Stage } from './support.ts';

/** Where a follower's stream breaks: what the server has sent of it by then. */
const CUTS: readonly [string, (response: http.ServerResponse, socket: Socket) => void][] = [
  ['before it answers', (_, socket) => socket.destroy()],
  ['before its first record', (response) => response.flushHeaders()],
  ['in its first record', (response) => response.write('{"seq":2,"ty')],
];

describe('a server that goes away', () => {
  it('is waited for until it is started again, by who waits and who follows', async () => {
    const other = await Stage.open();
    const env = cleanEnv({ LEASEHOLD_URL: other.url });
    const started = (args: string[]): Process =>
      other.track(new Process([EXECUTABLE, ...args], env), () => {});
    try {
      const server = await other.serve().ready();
      const follower = started(['log', '--follow']);
      const watcher = started(['stats', '--watch', '--json']);
      const waiting = started(['submit', '--wait']);
      waiting.child.stdin?.end('p');
      while (!follower.out.includes('TaskCreated')) await pause(10);
      while (!watcher.out.includes('"epoch":1')) await pause(10);
      server.kill('SIGKILL');
      await server.ended;
      await other.serve().ready();
      while (!follower.out.includes('3 ') || !/ CoordinatorStarted epoch 3/.test(follower.out)) {
        expect(follower.over, follower.err).to.equal(undefined);
        await pause(10);
      }
      while (!watcher.out.includes('"epoch":3')) {
        expect(watcher.over, watcher.err).to.equal(undefined);
        await pause(10);
      }
      expect(watcher.out).to.include('"epoch":1');
      expect(watcher.err).to.match(/the server was started again \(record 3\)\n/);
      const seen = [...follower.out.matchAll(/^(\d+) /gm)].map(([, seq]) => Number(seq));
      expect(seen, 'each record once').to.deep.equal([1, 2, 3]);
      expect(follower.err)
        .to.match(/the connection broke before record 3; trying again\n/)
        .and.match(/following again from record 3\n$/);
      expect(waiting.over, waiting.err).to.equal(undefined);
      expect((await other.run(['kill', 'T2'])).code).to.equal(0);
      expect((await waiting.ended).code).to.equal(1);
      expect(waiting.err)
        .to.match(/^T2 is submitted, record 2; waiting for its end\n/)
        .and.match(/\nT2 ended DEAD\n$/);
    } finally {
      await other.close();
    }
  });

  for (const [when, send] of CUTS) {
    it(`${when}, a follower says where to go on`, async () => {
      const server = http.createServer(({ url, socket }, response) => {
        if (url?.includes('follow=true') !== true) {
          response.end(`${JSON.stringify({ seq: 1, type: 'TaskKilled', task_id: 'T1' })}\n`);
          return;
        }
        send(response, socket);
        // What was sent has been read before the connection is reset.
        const reset = setInterval(() => {
          if (!follower.out.includes('\n')) return;
          clearInterval(reset);
          socket.resetAndDestroy();
        }, 10);
      });
      await once(server.listen(0, '127.0.0.1'), 'listening');
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const follow = ['log', '--follow', '--json', '--timeout', '2s'];
      const args = [EXECUTABLE, ...follow, '--url', url];
      const follower = new Process(args, cleanEnv());
      try {
        expect((await follower.ended).code).to.equal(3);
        expect(follower.err).to.match(/\nthe connection broke; go on with --from 2\n$/);
        expect(follower.out.trimEnd().split('\n')).length(1);
      } finally {
        await follower.destroy();
        server.close();
      }
    });
  }
});
