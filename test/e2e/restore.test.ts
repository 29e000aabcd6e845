// A server's log is lost and a backup takes its place, on the same addresses: workers of before do
// not know. What they were granted after the backup is unknown to the restored server, and no lease
// of it has a number that they hold.

import { rename } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import type { Fields } from '../support/server.ts';
import { Stage } from './support.ts';

const leaseOf = async (stage: Stage, worker: string): Promise<Fields> => {
  const { body } = await stage.call('POST', '/v1/leases', { worker_id: worker });
  return (body['leases'] as [Fields])[0];
};
const numberOf = (lease: Fields): number => Number(String(lease['lease_id']).slice(1));

describe('a restored server', function () {
  this.timeout(180_000);
  let stage: Stage;
  beforeEach(async () => {
    stage = await Stage.open();
  });
  afterEach(() => stage.close());

  const complete = async ({ lease_id, task_id }: Fields): Promise<Fields> =>
    (await stage.call('POST', `/v1/leases/${lease_id}/complete`, { task_id })).body;
  const heartbeat = async ({ lease_id, task_id }: Fields): Promise<Fields> =>
    (await stage.call('POST', `/v1/leases/${lease_id}/heartbeat`, { task_id })).body;

  /** A lease of before the backup, two of after it, and the server on the backup. */
  async function restored(): Promise<[before: Fields, after: Fields, done: Fields]> {
    const server = await stage.serve(['--lease-duration-ms', '60000']).ready();
    for (let i = 0; i < 3; i += 1) await stage.submit();
    const before = await leaseOf(stage, 'before');
    const backup = path.join(stage.dir, 'backup');
    const ran = await stage.run(['backup', '--data-dir', stage.dataDir, backup]);
    expect(ran.code, ran.err).to.equal(0);
    const after = await leaseOf(stage, 'after');
    const done = await leaseOf(stage, 'done');
    expect(await complete(done)).to.include({ outcome: 'COMMITTED' });
    server.kill('SIGKILL');
    await server.ended;
    await rename(stage.dataDir, path.join(stage.dir, 'lost'));
    await rename(backup, stage.dataDir);
    await stage.serve(['--lease-duration-ms', '60000']).ready();
    return [before, after, done];
  }

  it('takes no report for a lease that it does not know, and issues no number again', async () => {
    const [before, after, done] = await restored();
    for (const old of [after, done]) {
      expect(await heartbeat(old)).to.include({ outcome: 'REJECTED', reason: 'unknown_lease' });
      expect(await complete(old)).to.include({ outcome: 'REJECTED', reason: 'unknown_lease' });
    }
    const granted = [await leaseOf(stage, 'n1'), await leaseOf(stage, 'n2')];
    for (const lease of granted) {
      expect(numberOf(lease), 'a larger fencing token').to.be.greaterThan(1_000_000);
    }
    expect(granted.map(({ task_id }) => task_id)).to.have.members([
      after['task_id'],
      done['task_id'],
    ]);
    // They hold the same tasks now: the old workers' reports change nothing.
    for (const old of [after, done])
      expect(await complete(old)).to.include({ outcome: 'REJECTED' });
    for (const lease of granted) {
      expect(await complete(lease)).to.include({ outcome: 'COMMITTED' });
    }
    // Each of the two ran twice, and its story does not say that it ran once.
    for (const { task_id } of [after, done]) {
      const { body } = await stage.call('GET', `/v1/tasks/${task_id}/explain`);
      expect(body['starts']).to.have.nested.property('[0].restored_after', numberOf(before));
      expect(body['summary']).to.include('restored from a copy');
    }
    // A number that the start skipped is a record of nobody: the same is told with a server and
    // without one.
    const gap = ['explain', String(before['task_id']), '--at', '500000', '--json'];
    const asked = await stage.run(gap);
    expect([asked.code, asked.err]).to.deep.equal([0, '']);
    expect(asked.out).to.equal((await stage.run([...gap, '--data-dir', stage.dataDir])).out);
    // A lease of before the backup goes on, and a second start skips no number any more.
    expect(await complete(before)).to.include({ outcome: 'COMMITTED' });
    await stage.stopAll();
    await stage.serve().ready();
    const seqs = (await stage.records()).map(({ seq }) => Number(seq));
    const gaps = seqs.filter((seq, i) => i > 0 && seq !== (seqs[i - 1] as number) + 1);
    expect(gaps).to.have.length(1);
    const verified = await stage.run(['verify', '--data-dir', stage.dataDir]);
    expect(verified.code, verified.err).to.equal(0);
  });
});
