// The stop of the real executable: what was accepted is answered, and it ends in time.

import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { recordsIn } from '../reliability/verified.ts';
import type { Server } from '../support/server.ts';
import { Stage } from './support.ts';

describe('serve, at its stop', () => {
  // Each stop but the last leaves what the next start goes on with.
  let stage: Stage;
  before(async () => {
    stage = await Stage.open();
  });
  after(() => stage.close());

  it('ends at once at the second signal', async () => {
    const server = await stage.serve().ready();
    server.kill('SIGSTOP');
    server.kill('SIGTERM');
    server.kill('SIGINT');
    server.kill('SIGCONT');
    await server.ended;
  });

  it('opens no debugger at SIGUSR1, says so, and goes on until SIGTERM', async () => {
    const server = await stage.serve().ready();
    server.kill('SIGUSR1');
    while (!server.out.includes('SIGUSR1 is ignored')) await pause(5);
    expect(server.err).not.to.include('Debugger');
    await isStoppedBy('SIGTERM', server);
    expect(server.out).to.include('"signal":"SIGTERM"');
  });

  // HUP: the terminal was closed. QUIT: Ctrl-\.
  for (const signal of ['SIGINT', 'SIGHUP', 'SIGQUIT'] as const) {
    it(`answers a parked request empty at ${signal}, and ends`, async () => {
      await isStoppedBy(signal, await stage.serve().ready());
    });
  }

  /** A parked request is answered empty, and the server ends long before the request's time. */
  async function isStoppedBy(signal: NodeJS.Signals, server: Server): Promise<void> {
    const parked = stage.call('POST', '/v1/leases', { worker_id: 'w', wait_ms: 60_000 });
    const isParked = async (): Promise<boolean> =>
      (await stage.call('GET', '/v1/stats')).body['parked_requests'] === 1;
    while (!(await isParked())) await pause(5);
    const asked = performance.now();
    server.kill(signal);
    expect((await parked).body).to.deep.include({ leases: [] });
    expect(await server.ended).to.deep.equal({ code: 0, signal: null });
    expect(performance.now() - asked).to.be.lessThan(30_000);
  }

  it('under load loses nothing that was answered', async () => {
    const server = await stage.serve().ready();
    const acknowledged: unknown[] = [];
    let refused = 0;
    const load = Array.from({ length: 8 }, async () => {
      for (;;) {
        try {
          const { status, body } = await stage.submit();
          if (status === 201) acknowledged.push(body['task_id']);
          else {
            expect(body['reason']).to.equal('shutting_down');
            refused += 1;
            return;
          }
        } catch {
          return; // The server is gone.
        }
      }
    });
    while (acknowledged.length < 200) await pause(5);
    server.kill('SIGTERM');
    await Promise.all(load);
    expect((await server.ended).code).to.equal(0);
    const log = await recordsIn(stage.dataDir);
    const created = new Set(log.map(({ task_id }) => task_id));
    expect(acknowledged.filter((id) => !created.has(id))).to.deep.equal([]);
    expect(refused).to.be.at.most(8);
  });
});
