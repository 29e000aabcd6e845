// How the socket behaves when peers do not: they pipeline ten thousand calls, never read, send half
// a line, close one half, or vanish.

import { linkSync, mkdtempSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { mostBytesOfTask } from '../../actors/ingress/batch-bytes.ts';
import { monotonicMs } from '../../actors/shared/clock.ts';
import { SocketPeer } from '../../actors/socket/peer.ts';
import { SocketServer } from '../../actors/socket/socket-server.ts';
import { eachWithServer, FakeBackend, RawConnection, until } from './socket-support.ts';

const call = (id: number, method: string, params: object = {}): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params });

describe('socket flow', () => {
  let backend: FakeBackend;
  let server: SocketServer;
  const { open } = eachWithServer((parts) => {
    ({ backend, server } = parts);
  });

  it('answers 10 000 calls pipelined in one write, each once', async () => {
    const peer = open();
    const ids = Array.from({ length: 10_000 }, (_, id) => id);
    backend.onAsk = ({ request, answer }) => setImmediate(answer, { op: request.op });
    peer.send(...ids.map((id) => call(id, 'stats')));
    const answers = await peer.answers(ids.length);
    expect(new Set(answers.map(({ id }) => id)).size).to.equal(ids.length);
  });

  it('looks at no more lines than may be open, and goes on as they are answered', async () => {
    const peer = open();
    backend.onAsk = () => {};
    peer.send(...Array.from({ length: 5_000 }, (_, id) => call(id, 'stats')));
    await until(() => backend.asked.length >= 1_000);
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    const first = backend.asked.length;
    expect(first).to.be.within(1_000, 1_100);
    for (const { answer } of backend.asked.slice()) answer({});
    await until(() => backend.asked.length > first);
    expect(backend.asked.length).to.be.at.most(2 * first);
  });

  it('does not read from a peer that does not read, and serves the others', async () => {
    const big = 'x'.repeat(100_000);
    backend.onAsk = ({ request, answer }) => answer(request.op === 'tasks' ? { big } : {});
    const deaf = open();
    deaf.socket.pause();
    // 10 000 answers of 100 kB would be a gigabyte.
    for (let i = 0; i < 100; i += 1) {
      deaf.send(...Array.from({ length: 100 }, (_, id) => call(100 * i + id, 'tasks')));
    }
    const other = open();
    other.send(call(1, 'stats'));
    await other.answers(1);
    let before = -1;
    while (before !== backend.asked.length) {
      before = backend.asked.length;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    // What the kernel's buffers took, plus about a megabyte owed.
    expect(backend.asked.length).to.be.below(1_000);
    deaf.socket.resume();
    await until(() => backend.asked.length > before + 100);
  });

  it('refuses the rest of a batch whose answers would be too large to hold', async () => {
    const peer = open();
    const lists = Array.from({ length: 1_000 }, (_, id) => JSON.parse(call(id, 'tasks')));
    const small = Array.from({ length: 1_000 }, (_, id) => JSON.parse(call(id, 'stats')));
    peer.send(JSON.stringify(lists), JSON.stringify(small));
    const [heavy, light] = await peer.answers(2);
    const refused = heavy.filter((each: { error?: object }) => each.error !== undefined);
    expect(heavy).to.have.length(1_000);
    expect(refused.length).to.be.within(850, 950);
    expect(refused.at(-1)).to.deep.include({ id: 999 });
    expect(light.every((each: { result?: object }) => each.result !== undefined)).to.equal(true);
  });

  it('asks for no more heavy answers of a batch than there is room for, and later', async () => {
    const peer = open();
    const leases = Array.from({ length: 20 }, (_, id) =>
      JSON.parse(call(id, 'lease', { worker_id: 'w', max: 250 })),
    );
    backend.onAsk = ({ request, answer }) => {
      if (request.op !== 'lease') answer({});
    };
    peer.send(JSON.stringify([...leases, JSON.parse(call(20, 'stats'))]));
    await until(() => backend.asked.length >= 15);
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(backend.asked).to.have.length(15);
    for (const { answer } of backend.asked.slice()) answer({ leases: [] });
    await until(() => backend.asked.length === 21);
    expect(backend.asked.at(-1)?.request.op).to.equal('stats');
    for (const { request, answer } of backend.asked.slice(15))
      if (request.op === 'lease') answer({});
    expect((await peer.answers(1))[0]).to.have.length(21);
  });

  it('asks in their turn for lists, stories and pages of the log, too', async () => {
    const wanted = { tasks: { limit: 1_000 }, explain: { task_id: 'T1' }, log: { limit: 1_000 } };
    for (const [method, params] of Object.entries(wanted)) {
      backend.answersMaxBytes = 400_000;
      const peer = open();
      const text = `"${'x'.repeat(300_000)}"`;
      backend.onAsk = ({ answer }) => answer(text);
      backend.story = text;
      const calls = [1, 2, 3].map((id) => JSON.parse(call(id, method, params)));
      peer.send(JSON.stringify(calls));
      const [answers] = await peer.answers(1);
      const refused = answers.filter(({ error }: { error?: { code: number } }) => error);
      expect(
        refused.map(({ id }: { id: number }) => id),
        method,
      ).to.deep.equal([2, 3]);
    }
  });

  it('refuses what has no room beside the answers that are there', async () => {
    const most = mostBytesOfTask(backend.limits);
    backend.answersMaxBytes = 4 * most;
    const peer = open();
    const large = 'x'.repeat(most);
    backend.onAsk = ({ answer }) => answer(`"${large}"`);
    const reads = [1, 2, 3, 4].map((id) => JSON.parse(call(id, 'task', { task_id: `T${id}` })));
    peer.send(JSON.stringify(reads));
    const [answers] = await peer.answers(1);
    const refused = answers.filter(({ error }: { error?: { code: number } }) => error);
    expect(refused.map(({ id }: { id: number }) => id)).to.deep.equal([4]);
    expect(refused[0].error.code).to.equal(-32_600);
  });

  it('holds no long line of a peer that has not given the token', async () => {
    backend.token = 'secret';
    backend.lineMaxBytes = 1_000_000;
    backend.batchMaxBytes = 1_000_000;
    const peer = open();
    const long = 'x'.repeat(100_000);
    peer.send(call(1, 'submit', { payload: long }), `[${call(2, 'submit', { payload: long })}]`);
    const refused = await peer.answers(2);
    for (const { error } of refused) expect(error.data).to.include({ limit_bytes: 65_536 });
    peer.send(
      call(3, 'auth', { token: 'secret' }),
      call(4, 'kill', { task_id: 'T1', reason: long }),
    );
    const [, , admitted, taken] = await peer.answers(4);
    expect([admitted.result.outcome, taken.id]).to.deep.equal(['OK', 4]);
  });

  it('drops a half line that never ends, not one that is slow', async () => {
    const impatient = new SocketServer(backend, 200);
    const address = await impatient.listen({ host: '127.0.0.1', port: 0 });
    try {
      const half = new RawConnection(address);
      half.socket.write('{"jsonrpc":');
      const idle = new RawConnection(address);
      // A byte now and then makes no line of it.
      const dripping = new RawConnection(address);
      const drops = setInterval(() => dripping.socket.write(' '), 20);
      await dripping.until(() => dripping.isClosed);
      clearInterval(drops);
      await half.until(() => half.isClosed);
      idle.send(call(1, 'stats'));
      await idle.answers(1);
      idle.socket.destroy();
    } finally {
      await impatient.close();
    }
  });

  it('counts each half line from its own beginning', async () => {
    const limitMs = 200;
    const peers: SocketPeer[] = [];
    const lone = createServer((socket) => peers.push(new SocketPeer(socket, backend, () => {})));
    await new Promise<void>((resolve) => lone.listen(0, '127.0.0.1', resolve));
    const { port } = lone.address() as AddressInfo;
    const steady = new RawConnection(`127.0.0.1:${port}`);
    // Each piece ends one line and begins the next one.
    const [beginning, ending] = ['{"jsonrpc":"2.0",', '"id":1,"method":"stats"}\n'];
    steady.socket.write(beginning + ending + beginning);
    await steady.answers(1);
    const laterThanFirst = monotonicMs();
    steady.socket.write(ending + beginning);
    await steady.answers(2);
    for (const peer of peers) peer.checkIdle(laterThanFirst + limitMs, limitMs);
    steady.socket.write(ending);
    expect(await steady.answers(3)).to.have.length(3);
    steady.socket.destroy();
    lone.close();
  });

  it('does not count the time in which it did not read on to a half line', async () => {
    const limitMs = 200;
    const impatient = new SocketServer(backend, limitMs);
    const address = await impatient.listen({ host: '127.0.0.1', port: 0 });
    try {
      backend.onAsk = () => {};
      const slow = new RawConnection(address);
      slow.socket.pause();
      slow.send(...Array.from({ length: 100 }, (_, id) => call(id, 'stats')));
      await until(() => backend.asked.length === 100);
      const last = call(100, 'stats');
      slow.socket.write(last.slice(0, 10));
      const big = 'x'.repeat(100_000);
      for (const { answer } of backend.asked) answer({ big });
      slow.socket.write(last.slice(10, 20));
      await new Promise((resolve) => setTimeout(resolve, 3 * limitMs));
      backend.onAsk = ({ answer }) => answer({});
      slow.socket.resume();
      slow.socket.write(`${last.slice(20)}\n`);
      expect(await slow.answers(101)).to.have.length(101);
      slow.socket.destroy();
    } finally {
      await impatient.close();
    }
  });

  it('half-closed: hastens what is parked, answers what is open, and ends', async () => {
    const peer = open();
    backend.onAsk = () => {};
    peer.send(call(1, 'lease', { worker_id: 'w', wait_ms: 60_000 }), call(2, 'stats'));
    peer.socket.end();
    await until(() => backend.hastened.length === 2);
    backend.asked[0]?.answer({ leases: [] });
    backend.asked[1]?.answer({ late: true });
    await peer.answers(2);
    await peer.until(() => peer.isClosed);
    expect(backend.withdrawn).to.deep.equal([]);
  });

  it('half-closed: a page of the log waits no longer, however late it is looked at', async () => {
    for (const before of [0, 3_000]) {
      const peer = open();
      backend.onAsk = ({ answer }) => setImmediate(answer, {});
      peer.send(...Array.from({ length: before }, (_, id) => call(id, 'stats')));
      peer.socket.end(call(before, 'log', { wait_ms: 60_000 }));
      await peer.answers(before + 1);
      await peer.until(() => peer.isClosed);
    }
  });

  it('answers calls that were sent before the half-close but not looked at yet', async () => {
    const peer = open();
    backend.onAsk = ({ answer }) => setImmediate(answer, {});
    peer.send(...Array.from({ length: 3_000 }, (_, id) => call(id, 'stats')));
    peer.socket.end(call(3_000, 'stats'));
    await peer.answers(3_001);
    await peer.until(() => peer.isClosed);
  });

  it('lets nothing park that was looked at only after the half-close', async () => {
    const peer = open();
    const answers = new Map<number, (body: unknown) => void>();
    backend.onAsk = ({ request, ticket, answer }) => {
      if (request.op === 'lease') answers.set(ticket, answer);
      else setImmediate(answer, {});
    };
    backend.onHasten = (ticket) => answers.get(ticket)?.({ leases: [] });
    peer.send(...Array.from({ length: 3_000 }, (_, id) => call(id, 'stats')));
    // Without a newline: only the end makes a line of it.
    peer.socket.end(call(3_000, 'lease', { worker_id: 'w', wait_ms: 60_000 }));
    await peer.answers(3_001);
    await peer.until(() => peer.isClosed);
    expect(answers.size).to.equal(1);
  });

  it('asks nobody for a half line whose sender has ended', async () => {
    const peer = open();
    peer.socket.end(call(1, 'submit', { payload: 'p' }).slice(0, -3));
    await peer.until(() => peer.isClosed);
    expect(backend.asked).to.have.length(0);
  });

  it('closed: to us the same as half-closed, nothing of it stays parked', async () => {
    const peer = open();
    backend.onAsk = () => {};
    peer.send(call(1, 'lease', { worker_id: 'w', wait_ms: 60_000 }));
    await until(() => backend.asked.length === 1);
    peer.socket.destroy();
    await until(() => backend.hastened.length === 1);
    backend.asked[0]?.answer({ leases: [] });
    await until(() => server.connections === 0);
  });

  it('reset: what is open is withdrawn', async () => {
    const peer = open();
    backend.onAsk = () => {};
    peer.send(call(1, 'lease', { worker_id: 'w', wait_ms: 60_000 }));
    await until(() => backend.asked.length === 1);
    peer.socket.resetAndDestroy();
    await until(() => backend.withdrawn.length === 1);
    expect(backend.withdrawn).to.deep.equal([1]);
    backend.asked[0]?.answer({ leases: [] });
    await until(() => server.connections === 0);
  });

  it('closes: owed answers are written, idle and deaf peers do not hold it up', async () => {
    const [owed, idle, half] = [open(), open(), open()];
    backend.onAsk = () => {};
    owed.send(call(1, 'stats'));
    half.socket.write('{"half":');
    await until(() => backend.asked.length === 1 && server.connections === 3);
    const closed = server.close();
    // What comes after that is thrown away: nobody is asked, and nobody waits for an answer.
    owed.send(call(2, 'stats'));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(backend.asked).to.have.length(1);
    backend.asked[0]?.answer({ last: true });
    await owed.answers(1);
    await closed;
    await idle.until(() => idle.isClosed);
    expect(half.lines).to.have.length(0);
  });
});

describe('unix socket', () => {
  it('is for its user alone, and takes over from a server that was killed', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'leasehold-')), 'run', 'leasehold.sock');
    const backend = new FakeBackend();
    const first = new SocketServer(backend);
    await first.listen({ host: '127.0.0.1', port: 0, path });
    expect(statSync(path).mode & 0o777).to.equal(0o600);
    expect(statSync(join(path, '..')).mode & 0o777).to.equal(0o700);
    const second = new SocketServer(backend);
    const taken = await second.listen({ host: '127.0.0.1', port: 0, path }).catch((error) => error);
    expect(taken.code).to.equal('EADDRINUSE');
    await second.close();
    // A server that is killed leaves its file behind; one that closes removes what it made.
    linkSync(path, `${path}.left`);
    await first.close();
    renameSync(`${path}.left`, path);
    const third = new SocketServer(backend);
    await third.listen({ host: '127.0.0.1', port: 0, path });
    const peer = new RawConnection(path);
    peer.send(call(1, 'stats'));
    await peer.answers(1);
    peer.socket.destroy();
    await third.close();
  });

  it('never takes the place of a file that is no socket', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'leasehold-')), 'notes.txt');
    writeFileSync(path, 'keep me');
    const server = new SocketServer(new FakeBackend());
    const refused = await server.listen({ host: '127.0.0.1', port: 0, path }).catch((e) => e);
    expect(refused.message).to.include('notes.txt').and.include('no socket');
    expect(readFileSync(path, 'utf8')).to.equal('keep me');
    await server.close();
  });
});
