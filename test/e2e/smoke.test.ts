// The real executable as `npm test` plays it each day: it starts, serves over both interfaces, does
// by itself what is due, goes on after a kill with what it had acknowledged, and stops when asked.
// Each of these in all its cases is shown by the files beside this one.

import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { EXECUTABLE } from '../../src/play/demo/processes.ts';
import { HttpLink, type Link, SocketLink } from '../support/links.ts';
import { cleanEnv, type Fields, Place, type Server } from '../support/server.ts';
import { until } from '../support/waiting.ts';

describe('the executable', () => {
  // Each of these goes on with what the one before it has left.
  let place: Place;
  let server: Server;
  const links: Link[] = [];
  before(async () => {
    place = await Place.open();
    server = await serve();
  });
  after(async () => {
    for (const link of links) link.close();
    await place.close();
  });

  const serve = (...args: string[]): Promise<Server> => place.serve({ args }).ready();
  const both = (): [http: Link, socket: Link] => {
    const opened: [Link, Link] = [new HttpLink(place.httpPort), new SocketLink(place.socketPort)];
    links.push(...opened);
    return opened;
  };
  const leaseOf = async (link: Link, queue: string): Promise<Fields> => {
    const { leases } = await link.call('lease', {
      worker_id: 'w',
      queues: [queue],
      wait_ms: 30_000,
    });
    return (leases as Fields[])[0] as Fields;
  };

  it('takes a task over one interface, and reports on it over the other', async () => {
    const [http, socket] = both();
    for (const [one, other] of [
      [http, socket],
      [socket, http],
    ] as const) {
      const { task_id } = await one.call('submit', { payload: 'p', queue: 'crossed' });
      const { lease_id } = await leaseOf(other, 'crossed');
      const report = await other.call('complete', { task_id, lease_id, result: 'done' });
      expect(report).to.include({ outcome: 'COMMITTED' });
      expect(await one.call('task', { task_id })).to.include({
        state: 'COMPLETED',
        result: 'done',
      });
    }
  });

  it('is asked by its own command line', () => {
    const env = cleanEnv({ LEASEHOLD_URL: server.url });
    const asked = spawnSync(process.execPath, [EXECUTABLE, 'stats', '--json'], {
      encoding: 'utf8',
      env,
    });
    expect(asked.status, asked.stderr).to.equal(0);
    expect(JSON.parse(asked.stdout)).to.be.an('object');
  });

  it('goes on after kill -9 with what it had acknowledged', async () => {
    const { task_id } = await both()[0].call('submit', { payload: 'kept', queue: 'kept' });
    const before = await server.records();
    server.kill('SIGKILL');
    await server.ended;
    server = await serve('--lease-duration-ms', '300');
    expect((await server.records()).slice(0, before.length)).to.deep.equal(before);
    const [http] = both();
    expect(await http.call('task', { task_id })).to.include({ state: 'WAITING', payload: 'kept' });
  });

  it('lets a lease run out while nobody asks it anything', async () => {
    const [http] = both();
    await http.call('submit', { payload: 'p', queue: 'left' });
    await leaseOf(http, 'left');
    // The records are read by another thread than the one that lets it expire.
    const types = async (): Promise<unknown[]> => (await server.records()).map(({ type }) => type);
    await until('the lease is over', async () => (await types()).includes('LeaseExpired'));
  });

  it('answers a parked request empty at SIGTERM, and ends with status 0', async () => {
    const [http, socket] = both();
    const parked = socket.call('lease', { worker_id: 'w', queues: ['none'], wait_ms: 60_000 });
    await until(
      'it is parked',
      async () => (await http.call('stats', {}))['parked_requests'] === 1,
    );
    const ended = server.stop();
    expect(await parked).to.deep.include({ leases: [] });
    expect(await ended).to.deep.equal({ code: 0, signal: null });
  });
});
