// Shows how the HTTP ingress behaves around its routes: refusals that no route gives, clients that
// leave, a mailbox that is full, a coordinator that is not there, health, and the end.

import { expect } from 'chai';
import type { Response } from '../../src/model/response.ts';
import { type Reply, type Stage, send, startServer, until, Wire } from './http-support.ts';

const empty: Response = {
  kind: 'leased',
  leases: [],
  waitedMs: 0,
  base64: false,
  empty: { reason: 'no_task' },
};
const LEASE = '{"worker_id":"w","wait_ms":20000}';
const leaseCall =
  'POST /v1/leases HTTP/1.1\r\nhost: localhost\r\n' +
  `content-length: ${LEASE.length}\r\n\r\n${LEASE}`;

function expectProblem(reply: Reply, status: number, reason: string): void {
  expect(reply).to.include({ status, type: 'application/problem+json; charset=utf-8' });
  expect(reply.json).to.include({ status, reason });
  for (const member of ['type', 'title', 'detail', 'outcome']) {
    expect(reply.json[member], member).to.be.a('string');
  }
  expect(reply.text).not.to.match(/\.[mc]?[jt]s:\d|node_modules|at \w+ \(|FST_/);
}

describe('HTTP manners', () => {
  let stage: Stage;
  beforeEach(async () => {
    stage = await startServer();
  });
  afterEach(() => stage.server.stop());
  const ask = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    send(stage.port, method, path, body, headers);

  it('a request without Host is refused as a problem, unless it is of HTTP/1.0', async () => {
    for (const [version, status] of [
      ['1.1', 400],
      ['1.0', 200],
    ] as const) {
      const wire = await Wire.open(stage.port);
      wire.write(`GET /livez HTTP/${version}\r\nconnection: close\r\n\r\n`);
      await until(() => wire.closed, 'the connection was closed');
      expect(wire.text).to.include(` ${status} `);
      if (status === 400)
        expect(wire.text).to.include('application/problem+json').and.include('Host');
    }
  });

  it('a request with two Hosts is refused, in whatever order they stand', async () => {
    for (const hosts of [
      ['localhost', 'evil.example'],
      ['evil.example', 'localhost'],
      ['localhost', 'localhost'],
    ]) {
      const wire = await Wire.open(stage.port);
      const lines = hosts.map((host, at) => `${at === 0 ? 'Host' : 'hOST'}: ${host}\r\n`);
      wire.write(`GET /v1/stats HTTP/1.1\r\n${lines.join('')}connection: close\r\n\r\n`);
      await until(() => wire.closed, 'the connection was closed');
      expect(wire.text).to.include(' 400 ').and.include('one Host');
    }
  });

  it('a body as large as it may be is taken, however small a batch may be', async () => {
    const config = { payloadMaxBytes: 100_000, batchMaxBytes: 1_024 };
    const small = await startServer({ config, decide: () => empty });
    try {
      const reply = await send(small.port, 'POST', '/v1/tasks', { payload: 'p'.repeat(100_000) });
      expect(reply.status).to.equal(200);
    } finally {
      await small.server.stop();
    }
  });

  it('every JSON answer is one line with its end, so that no prompt sticks to it', async () => {
    stage.coordinator.decide = () => empty;
    const asked: readonly (readonly [string, string, string?])[] = [
      ['POST', '/v1/leases', '{"worker_id":"w"}'],
      ['POST', '/v1/batch', '{"requests":[]}'],
      ['POST', '/v1/leases', '{'],
      ['GET', '/v1/nothing'],
      ['GET', '/v1/config'],
      ['GET', '/openapi.json'],
      ['GET', '/livez'],
      ['GET', '/readyz'],
    ];
    for (const [method, path, body] of asked) {
      const { text, headers } = await ask(method, path, body);
      expect(text, path).to.match(/^[^\n]+\n$/);
      expect(Number(headers['content-length']), path).to.equal(Buffer.byteLength(text));
    }
    const wire = await Wire.open(stage.port);
    wire.write('no HTTP at all\r\n\r\n');
    await until(() => wire.closed, 'the connection was closed');
    expect(wire.text).to.match(/\r\n\r\n[^\n]+\n$/);
  });

  it('what is wrong with bytes on the wire is told by its kind', async () => {
    const post = 'POST /v1/tasks HTTP/1.1\r\nhost: localhost\r\n';
    for (const [bytes, words, isEnded] of [
      ['no HTTP at all\r\n\r\n', 'no HTTP request; the port for JSON-RPC lines is another one.'],
      [`${post}transfer-encoding: chunked\r\n\r\nzz\r\n`, 'The chunks of the body'],
      [`${post}content-length: many\r\n\r\n`, 'The headers are not well-formed'],
      [`${post}content-length: 10\r\n\r\n{`, 'The connection ended before the request', true],
    ] as const) {
      const wire = await Wire.open(stage.port);
      wire.write(bytes);
      if (isEnded) wire.socket.end();
      await until(() => wire.closed, 'the connection was closed');
      expect(wire.text)
        .to.match(/^HTTP\/1.1 400 /)
        .and.include(words);
    }
  });

  it('unknown routes are 404', async () => {
    const paths = ['/', '/v1', '/v1/nothing', '/v2/tasks', '/v1/tasks/../../etc/passwd'];
    for (const path of paths) expectProblem(await ask('GET', path), 404, 'unknown_route');
    expectProblem(await ask('POST', '/v1/tasks/T1/explode', '{}'), 404, 'unknown_route');
    expectProblem(await ask('DELETE', '/v1/nothing'), 404, 'unknown_route');
  });

  it('wrong methods are 405 and say which are right', async () => {
    const rows: readonly (readonly [string, string, string])[] = [
      ['DELETE', '/v1/tasks/T1', 'GET, HEAD'],
      ['PUT', '/v1/tasks', 'POST, GET, HEAD'],
      ['GET', '/v1/leases', 'POST'],
      ['GET', '/v1/tasks/T1/kill', 'POST'],
      ['POST', '/metrics', 'GET, HEAD'],
      ['OPTIONS', '/v1/batch', 'POST'],
    ];
    for (const [method, path, allow] of rows) {
      const reply = await ask(method, path);
      expectProblem(reply, 405, 'method_not_allowed');
      expect(reply.headers['allow']).to.equal(allow);
    }
  });

  it('bodies over the limit are 413, whether their length is told or not', async () => {
    expectProblem(await ask('POST', '/v1/tasks', 'x'.repeat(3_000_000)), 413, 'too_large');
    expectProblem(await ask('POST', '/v1/queues/q/tasks', 'x'.repeat(1_001)), 413, 'too_large');
    const chunked = { 'transfer-encoding': 'chunked' };
    expectProblem(await ask('POST', '/v1/tasks', 'x'.repeat(100_000), chunked), 413, 'too_large');
    expectProblem(await ask('POST', '/v1/batch', 'x'.repeat(200_001)), 413, 'too_large');
  });

  it('bodies on their way are bounded together', async () => {
    // The largest body is 200 000 bytes here, and sixteen of them may be half read.
    const head = 'POST /v1/batch HTTP/1.1\r\nhost: localhost\r\ncontent-length: 200000\r\n\r\n';
    const wires: Wire[] = [];
    for (let count = 0; count < 17; count += 1) {
      const wire = await Wire.open(stage.port);
      wire.write(`${head}${'x'.repeat(199_999)}`);
      wires.push(wire);
    }
    const refused = () => wires.filter((wire) => wire.text.includes('mailbox_full'));
    await until(() => refused().length === 1, 'one was refused');
    for (const wire of wires) wire.socket.destroy();
    await until(() => wires.every((wire) => wire.closed), 'all are closed');
    const reply = await ask('POST', '/v1/batch', 'x'.repeat(200_000));
    expectProblem(reply, 400, 'malformed');
  });

  it('a body in pieces is put together', async () => {
    const wire = await Wire.open(stage.port);
    wire.write('POST /v1/tasks HTTP/1.1\r\nhost: localhost\r\ncontent-length: 15\r\n\r\n');
    for (const piece of ['{"pay', 'load"', ':"p"}']) {
      wire.write(piece);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await until(() => wire.text.includes('unknown_task'), 'it was asked for');
    expect(stage.coordinator.asked[0]?.request).to.deep.include({ payload: Buffer.from('p') });
    wire.socket.destroy();
  });

  it('any content type is taken, an encoding is not', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'nonsense', ';;']) {
      const reply = await ask('POST', '/v1/tasks', '{"payload":"p"}', { 'content-type': type });
      expectProblem(reply, 404, 'unknown_task');
    }
    const zipped = await ask('POST', '/v1/tasks', 'x', { 'content-encoding': 'gzip' });
    expectProblem(zipped, 415, 'malformed');
  });

  const noHttp: readonly (readonly [string, RegExp])[] = [
    ['hello\r\n\r\n', /^HTTP\/1\.1 400 /],
    ['{"jsonrpc":"2.0","id":1,"method":"stats"}\n', /^HTTP\/1\.1 400 /],
    [`GET / HTTP/1.1\r\nx: ${'y'.repeat(70_000)}\r\n\r\n`, /^HTTP\/1\.1 431 /],
    ['POST /v1/tasks HTTP/1.1\r\nhost: a\r\ncontent-length: nope\r\n\r\n', /^HTTP\/1\.1 400 /],
  ];
  for (const [bytes, status] of noHttp) {
    it(`${JSON.stringify(bytes.slice(0, 40))} is told and cut off`, async () => {
      const wire = await Wire.open(stage.port);
      wire.write(bytes);
      await until(() => wire.closed, 'the connection was closed');
      expect(wire.text).to.match(status);
      const body = JSON.parse(wire.text.slice(wire.text.indexOf('\r\n\r\n')));
      expect(wire.text).to.include(`HTTP/1.1 ${body.status} `);
      expect(body).to.include({ outcome: 'REJECTED', reason: 'malformed' });
    });
  }

  it('an answer that is owed is sent before garbage behind it ends the connection', async () => {
    const wire = await Wire.open(stage.port);
    stage.coordinator.decide = () => undefined;
    wire.write(`${leaseCall}garbage\r\n\r\n`);
    await until(() => stage.coordinator.asked.length === 1, 'the lease was asked for');
    stage.coordinator.answer(stage.coordinator.asked[0]?.ticket ?? 0, empty);
    await until(() => wire.closed, 'the connection was closed');
    expect(wire.text)
      .to.match(/^HTTP\/1\.1 200 /)
      .and.to.include('no_task');
  });

  it('a path that cannot be decoded is 400', async () => {
    expectProblem(await ask('GET', '/v1/tasks/%ff%'), 400, 'malformed');
  });

  it('a request that does not come to its end is told so', async () => {
    const timeouts = { headersMs: 50, requestMs: 100, checkMs: 10 };
    const hasty = await startServer({ timeouts });
    for (const part of [
      'GET /livez HT',
      'POST /v1/tasks HTTP/1.1\r\nhost: localhost\r\n\r\n{"pay',
    ]) {
      const wire = await Wire.open(hasty.port);
      wire.write(part.replace('\r\n\r\n', '\r\ncontent-length: 99\r\n\r\n'));
      await until(() => wire.closed, 'the connection was closed');
      expect(wire.text)
        .to.match(/^HTTP\/1\.1 408 /)
        .and.to.include('"status":408');
    }
    await hasty.server.stop();
  });

  it('a thousand half requests keep nobody out, and end by the time-out', async () => {
    const timeouts = { headersMs: 1_000, requestMs: 1_500, checkMs: 50 };
    const patient = await startServer({ timeouts });
    const wires = Array.from({ length: 1_000 }, () => new Wire(patient.port));
    for (const wire of wires) wire.write('POST /v1/tasks HTTP/1.1\r\nhost: loc');
    const reply = await send(patient.port, 'POST', '/v1/tasks', { payload: 'p' });
    expectProblem(reply, 404, 'unknown_task');
    await until(() => wires.every((wire) => wire.closed), 'all were cut off', 60_000);
    expect(patient.coordinator.asked).to.have.length(1);
    await patient.server.stop();
  });

  describe('a client that leaves', () => {
    beforeEach(() => {
      stage.coordinator.decide = () => undefined;
    });
    const parked = async () => {
      const wire = await Wire.open(stage.port);
      wire.write(leaseCall);
      await until(() => stage.coordinator.asked.length === 1, 'the lease was parked');
      return { wire, ticket: stage.coordinator.asked[0]?.ticket ?? 0 };
    };

    it('has its parked request withdrawn', async () => {
      const { wire, ticket } = await parked();
      wire.socket.resetAndDestroy();
      await until(() => stage.coordinator.withdrawn.length === 1, 'it was withdrawn');
      expect(stage.coordinator.withdrawn).to.deep.equal([ticket]);
    });

    it('but listens still is answered at once', async () => {
      const { wire, ticket } = await parked();
      wire.socket.end();
      await until(() => stage.coordinator.hastened.length === 1, 'it was hastened');
      expect(stage.coordinator.hastened).to.deep.equal([ticket]);
      stage.coordinator.answer(ticket, empty);
      await until(() => wire.closed, 'the connection was closed');
      expect(wire.text)
        .to.match(/^HTTP\/1\.1 200 /)
        .and.to.include('no_task');
    });

    it('after sending a submit is answered', async () => {
      const wire = await Wire.open(stage.port);
      wire.write('POST /v1/tasks HTTP/1.1\r\nhost: localhost\r\ncontent-length: 15\r\n\r\n');
      wire.socket.end('{"payload":"p"}');
      await until(() => stage.coordinator.asked.length === 1, 'the submit was asked for');
      const ticket = stage.coordinator.asked[0]?.ticket ?? 0;
      stage.coordinator.answer(ticket, { kind: 'committed', taskState: 'DEAD', record: 1 });
      await until(() => wire.closed, 'the connection was closed');
      expect(wire.text)
        .to.match(/^HTTP\/1\.1 200 /)
        .and.to.include('COMMITTED');
    });

    it('once answered leaves nothing to withdraw', async () => {
      const { wire, ticket } = await parked();
      stage.coordinator.answer(ticket, empty);
      await until(() => wire.text.includes('no_task'), 'the answer came');
      wire.socket.resetAndDestroy();
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(stage.coordinator.withdrawn).to.deep.equal([]);
    });
  });

  describe('when the coordinator cannot answer', () => {
    const beat = () => ask('POST', '/v1/leases/L2/heartbeat', { task_id: 'T1' });
    const submit = () => ask('POST', '/v1/tasks', { payload: 'p' });

    it('a full mailbox refuses at once, work in progress last', async () => {
      stage.coordinator.asleep = true;
      const open = Array.from({ length: 56 }, submit);
      await until(
        () => stage.coordinator.mailbox.depth().requests === 56,
        'seven eighths are full',
      );
      const refused = await submit();
      expectProblem(refused, 503, 'mailbox_full');
      expect(refused.headers['retry-after']).to.equal('1');
      const beats = Array.from({ length: 8 }, beat);
      await until(() => stage.coordinator.mailbox.depth().requests === 64, 'all is full');
      expectProblem(await beat(), 503, 'mailbox_full');
      stage.coordinator.asleep = false;
      stage.coordinator.drain();
      for (const reply of await Promise.all([...open, ...beats]))
        expect(reply.status).to.equal(404);
    });

    it('requests before the replay is over are refused as recovering', async () => {
      stage.progress.phase = 'recovering';
      expectProblem(await submit(), 503, 'recovering');
      expectProblem(await beat(), 503, 'recovering');
      expectProblem(await ask('GET', '/v1/log?tail=1'), 503, 'recovering');
      expect(stage.coordinator.asked).to.deep.equal([]);
    });

    it('its death answers what was open: not known to have happened', async () => {
      stage.coordinator.decide = () => undefined;
      const open = submit();
      await until(() => stage.coordinator.asked.length === 1, 'the submit was asked for');
      stage.coordinator.die();
      const lost = await open;
      expectProblem(lost, 503, 'log_unavailable');
      expect(lost.headers['retry-after']).to.equal('1');
      expectProblem(await submit(), 503, 'recovering');
      stage.server.connect(stage.coordinator.connect('http again'));
      const again = submit();
      await until(() => stage.coordinator.asked.length === 2, 'the new connection is used');
      stage.coordinator.answer(stage.coordinator.asked[1]?.ticket ?? 0, empty);
      expect((await again).status).to.equal(200);
    });
  });

  it('health: ready, and why not', async () => {
    expect((await ask('GET', '/readyz')).json).to.deep.equal({ status: 'ready' });
    stage.progress.phase = 'recovering';
    stage.progress.replay = { records: 5, of: 9 };
    const recovering = await ask('GET', '/readyz');
    expectProblem(recovering, 503, 'recovering');
    expect(recovering.json.replay).to.deep.equal({ records: 5, of: 9 });
    expect(recovering.headers['retry-after']).to.equal('1');
    stage.progress.phase = 'refusing';
    expectProblem(await ask('GET', '/readyz'), 503, 'log_unavailable');
    stage.progress.stopping();
    expectProblem(await ask('GET', '/readyz'), 503, 'shutting_down');
    expect(await ask('GET', '/livez')).to.include({ status: 200 });
  });
});

describe('the end of the HTTP ingress', () => {
  it('answers what is open and cuts what is idle or half sent, within a second', async () => {
    const stage = await startServer({ decide: () => undefined });
    const idle = await Wire.open(stage.port);
    const half = await Wire.open(stage.port);
    half.write('POST /v1/tasks HTTP/1.1\r\nhost: localhost\r\ncontent-length: 99\r\n\r\n{"pay');
    const head = await Wire.open(stage.port);
    head.write('GET /livez HT');
    const open = await Wire.open(stage.port);
    open.write(leaseCall);
    await until(() => stage.coordinator.asked.length === 1, 'the lease was parked');
    stage.server.quiesce();
    const begun = performance.now();
    stage.coordinator.answer(stage.coordinator.asked[0]?.ticket ?? 0, empty);
    await until(() => open.text.includes('no_task'), 'the open request was answered');
    open.write(leaseCall);
    await until(() => open.text.includes('shutting_down'), 'the next one was refused');
    await stage.server.stop();
    expect(performance.now() - begun).to.be.lessThan(10_000);
    await until(() => [idle, half, head, open].every((wire) => wire.closed), 'all were closed');
    const late = await Wire.open(stage.port).catch((error: NodeJS.ErrnoException) => error.code);
    expect(late).to.equal('ECONNREFUSED');
  });

  it('answers what the coordinator left open', async () => {
    const stage = await startServer({ decide: () => undefined });
    const open = send(stage.port, 'POST', '/v1/tasks', { payload: 'p' });
    await until(() => stage.coordinator.asked.length === 1, 'the submit was asked for');
    await stage.server.stop();
    expect((await open).json).to.include({ reason: 'log_unavailable' });
  });
});
