// A server whose process may open no more files: records are refused when a segment is full, the
// log output says that it is the descriptors, and it goes on when there are some again.

import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { need } from '../reliability/machine.ts';
import type { Fields, Server } from '../support/server.ts';
import { skip } from '../support/skip.ts';
import { Stage } from './support.ts';

const DESCRIPTORS = 160;

describe('a server without file descriptors', () => {
  let stage: Stage;
  beforeEach(async () => {
    stage = await Stage.open();
  });
  afterEach(() => stage.close());

  it('says so, and not that the disk is full', async function () {
    need(this, 'linux');
    const server = await stage.serve(['--segment-bytes', '1048576']).ready();
    const limit = `--nofile=${DESCRIPTORS}:${DESCRIPTORS}`;
    const { error } = spawnSync('prlimit', ['--pid', String(server.child.pid), limit]);
    if (error !== undefined) skip(this, 'prlimit is not installed');
    // One connection that is there already carries the requests.
    const payload = 'x'.repeat(100_000);
    const idle: Socket[] = [];
    try {
      expect((await stage.submit({ payload })).status).equal(201);
      while (!(await isFull(server, stage.port, idle)));
      // Room for one connection, and for nothing else.
      idle.shift()?.destroy();
      while ((await answers(stage)) === undefined) await pause(20);
      let status = 201;
      for (let sent = 0; status === 201 && sent < 60; sent += 1) {
        status = (await stage.submit({ payload })).status;
      }
      expect(status, 'a record is refused').equal(503);
      while (!server.out.includes('"level":"warn"')) await pause(20);
      const lines = server.out.split('\n').filter((one) => one.includes('"level":"warn"'));
      const told = lines.map((one) => JSON.parse(one) as Fields).find(({ why }) => why);
      expect(told?.['why'], lines.join('\n')).match(/may open no more files .*\(EMFILE\)/);
      expect(told).not.include.keys('free_bytes');
    } finally {
      for (const socket of idle) socket.destroy();
    }
    let status = 503;
    while (status !== 201) {
      expect(server.over, server.err).equal(undefined);
      status = await stage.submit({ payload }).then(
        (called) => called.status,
        () => 503,
      );
      await pause(50);
    }
  });
});

/** A status, or undefined: the connection was not taken. */
const answers = (stage: Stage): Promise<number | undefined> =>
  stage.call('GET', '/livez').then(
    ({ status }) => status,
    () => undefined,
  );

/** Opens one more connection. @returns whether the server has taken as many as it can. */
async function isFull({ pid }: Server, port: number, idle: Socket[]): Promise<boolean> {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  idle.push(socket);
  await once(socket, 'connect');
  // Beyond the limit a connection is accepted by the kernel alone, or dropped: nobody answers.
  socket.write('GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n');
  const answered = once(socket, 'data').then(
    () => true,
    () => false,
  );
  for (;;) {
    if (await Promise.race([answered, pause(1_000).then(() => false)])) return false;
    // A server that is only slow has descriptors left, and answers yet.
    if (socket.destroyed || readdirSync(`/proc/${pid}/fd`).length >= DESCRIPTORS) return true;
  }
}
