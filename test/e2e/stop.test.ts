// The stop of the real executable: what was accepted is answered, and it ends in time.

import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { Stage } from './support.ts';

describe('serve, at its stop', () => {
  let stage: Stage;
  beforeEach(async () => {
    stage = await Stage.open();
  });
  afterEach(() => stage.close());

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    it(`answers a parked request empty at ${signal} and ends long before its time`, async () => {
      const server = await stage.serve().ready();
      const parked = stage.call('POST', '/v1/leases', { worker_id: 'w', wait_ms: 60_000 });
      const isParked = async (): Promise<boolean> =>
        (await stage.call('GET', '/v1/stats')).body['parked_requests'] === 1;
      while (!(await isParked())) await pause(5);
      const asked = performance.now();
      server.kill(signal);
      expect((await parked).body).to.deep.include({ leases: [] });
      expect(await server.ended).to.deep.equal({ code: 0, signal: null });
      expect(performance.now() - asked).to.be.lessThan(30_000);
    });
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
    await stage.serve().ready();
    const created = new Set((await stage.records()).map(({ task_id }) => task_id));
    expect(acknowledged.filter((id) => !created.has(id))).to.deep.equal([]);
    expect(refused).to.be.at.most(8);
  });

  it('ends at once at the second signal', async () => {
    const server = await stage.serve().ready();
    server.kill('SIGSTOP');
    server.kill('SIGTERM');
    server.kill('SIGINT');
    server.kill('SIGCONT');
    await server.ended;
    await stage.serve().ready();
  });
});
