// Asks more than the device can take, for a while: what is refused is told so at once and did not
// happen, what is accepted is answered once and is in the log, in the order in which it was sent;
// work in progress can be reported all the while; and memory stays what the bounds say.

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { SocketLink } from '../support/links.ts';
import { type Fields, Place, type Server } from '../support/server.ts';
import { inTurn, sized } from '../support/tier.ts';
import { until } from '../support/waiting.ts';
import { Device } from './device.ts';
import { need } from './machine.ts';
import { copyProgram, executableOf } from './patched.ts';
import { GATHERS_LESS, KEEPS_NO_PLACE, PATIENT } from './program-faults.ts';
import { roundsOf } from './rounds.ts';

/** A flush takes so long that clients ask for ten times what can be recorded, and more. */
const FLUSH_MS = 1_500;
const FLOOD_MS = Number(process.env['FLOOD_MS'] ?? sized(10_000, 2_500));
const CONNECTIONS = 8;
const WINDOW = 400;
const WORKERS = sized(40, 12);
const MAILBOX = 256;
/** Large submits that each connection sends without waiting: 120 MiB in all. */
const LARGE = 60;
const LARGE_BYTES = 262_144;
const TAKEN_MAX_MIB = 100;
/** So much may wait, an eighth of it heartbeats and reports alone. */
const MAILBOX_MIB = 24;
const HALVES = 1_000;
const HALF_A_LINE = '{"jsonrpc":"2.0","id":1,"method":"submit","params":{"payload":"';
const HALF_A_BODY =
  'POST /v1/tasks HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{"payload":"';
const BESIDE = inTurn(['tells when to come again', 'bounds bytes', 'halves']);
const CONTROLS = inTurn(['without its last eighth kept free']);

interface Told {
  readonly requestId: string;
  readonly answer: Fields;
}

describe('overload', () => {
  const rounds = roundsOf('overload', 1, FLOOD_MS + 50_000);
  let place: Place;
  let device: Device;
  before(function () {
    need(this, 'linux', 'cc');
  });
  beforeEach(async () => {
    place = await Place.open();
    device = new Device(place.dataDir, place.dir);
  });
  afterEach(() => place.close());

  const serve = (more: { args?: string[]; executable?: string } = {}): Promise<Server> => {
    const { args = [], ...rest } = more;
    const flags = ['--mailbox-max', `${MAILBOX}`, '--log-level', 'error', ...args];
    return place.serve({ args: flags, env: device.env, ...rest }).ready();
  };

  it(`is answered at once, and work in progress is not refused, for ${FLOOD_MS} ms`, async () => {
    await rounds.run(async (seed) => {
      const executable = executableOf(copyProgram(path.join(place.dir, `${seed}`), GATHERS_LESS));
      const server = await serve({ executable });
      const { told, reports } = await flood(place, device, server, `${seed}`, FLOOD_MS);
      const accepted = told.filter(({ answer }) => typeof answer['task_id'] === 'string');
      const refused = told.filter(({ answer }) => answer['outcome'] === 'UNAVAILABLE');
      expect(accepted.length + refused.length, 'each was answered, one way or the other').to.equal(
        told.length,
      );
      expect(accepted.length, 'accepted').to.be.greaterThan(MAILBOX);
      expect(refused.length, 'ten times what can be recorded').to.be.above(9 * accepted.length);
      for (const { answer } of refused) expect(answer['reason']).to.equal('mailbox_full');
      for (const { outcome } of reports) expect(outcome).to.be.oneOf(['OK', 'COMMITTED']);
      const created = await createdIn(server);
      expect(new Set(created.values()).size, 'each once').to.equal(created.size);
      for (const { requestId, answer } of accepted) {
        expect(created.get(requestId), requestId).to.equal(answer['task_id']);
      }
      for (const { requestId } of refused) expect(created.get(requestId)).to.equal(undefined);
      expect(outOfOrder(accepted)).to.deep.equal([]);
      expect(await server.stop()).to.deep.equal({ code: 0, signal: null });
    });
  }).timeout(rounds.timeoutMs);

  for (const name of CONTROLS) {
    it(`control: a mailbox ${name} is caught`, async () => {
      const executable = executableOf(
        copyProgram(path.join(place.dir, 'program'), [...GATHERS_LESS, ...KEEPS_NO_PLACE]),
      );
      const server = await serve({ executable });
      const { reports } = await flood(place, device, server, 'control', sized(3_000, 2_000));
      const refused = reports.filter(({ outcome }) => outcome === 'UNAVAILABLE');
      expect(refused.length).to.be.greaterThan(0);
    }).timeout(180_000);
  }

  if (BESIDE.includes('tells when to come again')) {
    it('tells HTTP clients when to come again', async () => {
      const server = await serve();
      device.breaks({ calls: ['flush'], nth: 1, repeat: 1_000_000, stallMs: FLUSH_MS });
      const links = Array.from({ length: CONNECTIONS }, () => new SocketLink(place.socketPort));
      const flooding = links.flatMap((link) =>
        Array.from({ length: 1_000 }, () => link.call('submit', { payload: 'p' })),
      );
      const asked = Array.from({ length: 200 }, async (_, i) => {
        await pause(i * 5);
        const body = JSON.stringify({ payload: 'p' });
        return fetch(`${server.url}/v1/tasks`, { method: 'POST', body });
      });
      const statuses = (await Promise.all(asked)).map((response) => {
        const after = Number(response.headers.get('retry-after'));
        if (response.status === 503) expect(after).to.be.within(1, 5);
        return response.status;
      });
      expect(statuses).to.include(503);
      device.mend();
      await Promise.all(flooding);
      for (const link of links) link.close();
    }).timeout(180_000);
  }

  if (BESIDE.includes('bounds bytes')) {
    it('takes in no more bytes than its bounds say, while a flush takes long', async () => {
      const args = ['--mailbox-max-bytes', `${MAILBOX_MIB * MIB}`];
      const executable = executableOf(copyProgram(path.join(place.dir, 'program'), PATIENT));
      const server = await serve({ args, executable });
      device.breaks({ calls: ['flush'], nth: 1, stallMs: 120_000 });
      const first = new SocketLink(place.socketPort);
      const flushed = first.call('submit', { payload: 'p' });
      await until('a flush is under way', () => device.counted.hits > 0);
      const params = { payload: 'x'.repeat(LARGE_BYTES), queue: 'large' };
      const links = Array.from({ length: CONNECTIONS }, () => new SocketLink(place.socketPort));
      const told: Fields[] = [];
      const asking = links.flatMap((link) =>
        Array.from({ length: LARGE }, async () => {
          const answer = await link.call('submit', params);
          told.push(answer);
        }),
      );
      const takenMib = (): number => {
        const refused = told.filter(({ reason }) => reason === 'mailbox_full').length;
        return ((CONNECTIONS * LARGE - refused) * LARGE_BYTES) / MIB;
      };
      // A busy machine needs a while to read the rest and to refuse it: the flush lasts until then.
      await until('the rest is refused', () => takenMib() <= TAKEN_MAX_MIB);
      device.letGo();
      await flushed;
      await Promise.all(asking);
      // The coordinator waits in the flush, so the mailbox alone takes in, until it is full: that
      // shows that the pressure was real.
      expect(takenMib(), 'MiB taken in').to.be.within((MAILBOX_MIB * 7) / 8 - 1, TAKEN_MAX_MIB);
      for (const link of [first, ...links]) link.close();
      expect(await server.stop()).to.deep.equal({ code: 0, signal: null });
    }).timeout(180_000);
  }

  if (BESIDE.includes('halves')) {
    it(`is not disturbed by ${HALVES} requests that stop half-way`, async () => {
      const server = await serve();
      const before = residentBytes(server);
      const halves = Array.from({ length: HALVES }, (_, i) => {
        const socket = connect(i % 2 === 0 ? place.socketPort : place.httpPort);
        socket.on('error', () => {});
        socket.write(i % 2 === 0 ? HALF_A_LINE : HALF_A_BODY);
        return socket;
      });
      await Promise.all(halves.map((socket) => once(socket, 'connect')));
      const link = new SocketLink(place.socketPort);
      for (let i = 0; i < 100; i += 1) {
        const answer = await link.call('submit', { payload: 'p' });
        expect(answer).to.have.property('task_id');
        expect(await server.status('/v1/stats')).to.equal(200);
      }
      expect((residentBytes(server) - before) / MIB, 'MiB more than at rest').to.be.below(150);
      link.close();
      for (const socket of halves) socket.destroy();
      expect(await server.stop()).to.deep.equal({ code: 0, signal: null });
      const again = await serve();
      const created = (await again.records()).filter(({ type }) => type === 'TaskCreated');
      expect(created, 'halves are no requests').to.have.length(100);
    }).timeout(180_000);
  }
});

const MIB = 1_048_576;

/** Floods with submits, while workers that hold leases heartbeat and at the end report. */
async function flood(place: Place, device: Device, server: Server, name: string, ms: number) {
  const worker = new SocketLink(place.socketPort);
  for (let i = 0; i < WORKERS; i += 1) await worker.call('submit', { payload: 'w', queue: 'w' });
  const wanted = { worker_id: 'w', queues: ['w'], max: WORKERS };
  const { leases } = (await worker.call('lease', wanted)) as { leases: Fields[] };
  expect(leases).to.have.length(WORKERS);
  device.breaks({ calls: ['flush'], nth: 1, repeat: 1_000_000, stallMs: FLUSH_MS });
  const told: Told[] = [];
  const end = performance.now() + ms;
  let [made, accepted] = [0, 0];
  const links = Array.from({ length: CONNECTIONS }, () => new SocketLink(place.socketPort));
  const hands = links.flatMap((link, place) =>
    Array.from({ length: WINDOW }, async () => {
      // A busy machine needs longer until more is accepted than may wait at a time.
      while (performance.now() < end || accepted <= MAILBOX) {
        made += 1;
        const requestId = `${name}-${place}-${made}`;
        const answer = await link.call('submit', { payload: 'p', request_id: requestId });
        told.push({ requestId, answer });
        if (answer['task_id'] !== undefined) accepted += 1;
      }
    }),
  );
  const reports: Fields[] = [];
  const working = leases.map(async ({ task_id, lease_id }, i) => {
    const named = { task_id, lease_id };
    await pause((ms / 2) * (i / WORKERS));
    reports.push(await worker.call('heartbeat', named));
    await pause(ms / 10);
    reports.push(await worker.call('complete', named));
  });
  await Promise.all([...hands, ...working]);
  device.mend();
  for (const link of [...links, worker]) link.close();
  expect(server.over).to.equal(undefined);
  return { told, reports };
}

/** Request id → task id. */
async function createdIn(server: Server): Promise<Map<unknown, unknown>> {
  const created = (await server.records()).filter(({ type }) => type === 'TaskCreated');
  const named = created.filter(({ request_id: id }) => id !== undefined);
  return new Map(named.map(({ request_id, task_id }) => [request_id, task_id]));
}

/** What one connection sent earlier was decided earlier. */
function outOfOrder(accepted: readonly Told[]): string[] {
  const newest = new Map<string, number>();
  const inOrderSent = accepted.toSorted((a, b) => sentAs(a) - sentAs(b));
  return inOrderSent.flatMap(({ requestId, answer }) => {
    const connection = requestId.slice(0, requestId.lastIndexOf('-'));
    const task = Number(String(answer['task_id']).slice(1));
    const before = newest.get(connection) ?? 0;
    newest.set(connection, task);
    return task > before ? [] : [`${requestId} is T${task}, after T${before}`];
  });
}
const sentAs = ({ requestId }: Told): number => Number(requestId.split('-').at(-1));

function residentBytes({ pid }: Server): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1_024;
}
