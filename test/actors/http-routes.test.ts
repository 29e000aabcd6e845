// Shows which request each route makes of its input, and what it refuses before anybody is asked.

import { METHODS } from 'node:http';
import { expect } from 'chai';
import { formOf, readHandlers } from '../../actors/http/reads.ts';
import { routesOf } from '../../actors/http/routes.ts';
import { OPERATION_NAMES, operationOf } from '../../src/model/operations.ts';
import { rejected, unavailable } from '../../src/model/refusal.ts';
import { type Decide, type Stage, send, startServer, until, Wire } from './http-support.ts';

const submitted: Decide = () => ({
  kind: 'submitted',
  taskId: 1,
  state: 'WAITING',
  queue: 'q',
  deduplicated: false,
  record: 1,
});
const committed: Decide = () => ({ kind: 'committed', taskState: 'COMPLETED', record: 3 });

describe('HTTP routes', () => {
  let stage: Stage;
  beforeEach(async () => {
    stage = await startServer();
  });
  afterEach(() => stage.server.stop());

  const ask = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    send(stage.port, method, path, body, headers);
  const asked = () => stage.coordinator.asked.map(({ request }) => request);

  it('pass a submit on and its answer back', async () => {
    stage.coordinator.decide = submitted;
    const reply = await ask('POST', '/v1/tasks', { payload: 'p', queue: 'q' });
    expect(reply).to.include({ status: 201, type: 'application/json; charset=utf-8' });
    expect(reply.text).to.equal(
      '{"task_id":"T1","state":"WAITING","queue":"q","deduplicated":false,"record":1}\n',
    );
    expect(asked()[0]).to.deep.include({ op: 'submit', queue: 'q' });
  });

  const verbs: readonly (readonly [string, string, unknown, object])[] = [
    ['POST', '/v1/leases', { worker_id: 'w' }, { op: 'lease', workerId: 'w' }],
    ['POST', '/v1/leases?encoding=base64', { worker_id: 'w' }, { op: 'lease', base64: true }],
    [
      'POST',
      '/v1/leases/L7/heartbeat',
      { task_id: 'T4' },
      { op: 'heartbeat', taskId: 4, leaseId: 7 },
    ],
    [
      'POST',
      '/v1/leases/L7/complete',
      { task_id: 'T4' },
      { op: 'complete', taskId: 4, leaseId: 7 },
    ],
    [
      'POST',
      '/v1/leases/L7/fail',
      { task_id: 'T4', reason: 'r' },
      { op: 'fail', reason: 'r', kind: 'error' },
    ],
    ['POST', '/v1/tasks/T4/kill', { reason: 'r' }, { op: 'kill', taskId: 4, reason: 'r' }],
    ['POST', '/v1/tasks/T4/kill', undefined, { op: 'kill', taskId: 4, reason: 'killed' }],
    ['POST', '/v1/tasks/T4/redrive', undefined, { op: 'redrive', taskId: 4 }],
    ['GET', '/v1/tasks/T4', undefined, { op: 'task', taskId: 4, waitMs: 0, base64: false }],
    [
      'GET',
      '/v1/tasks/T4?wait_ms=20&encoding=base64',
      undefined,
      { op: 'task', waitMs: 20, base64: true },
    ],
    [
      'GET',
      '/v1/tasks?state=FAILED&queue=q&after=T5&limit=7',
      undefined,
      { op: 'tasks', state: 'FAILED', queue: 'q', after: 5, limit: 7 },
    ],
    ['GET', '/v1/tasks?after=5', undefined, { op: 'tasks', after: 5 }],
    [
      'GET',
      '/v1/tasks?request_id=a%20b%26c%3D1%2F%C3%A9',
      undefined,
      { op: 'tasks', requestId: 'a b&c=1/é' },
    ],
    ['GET', '/v1/stats', undefined, { op: 'stats' }],
    ['GET', '/v1/queues', undefined, { op: 'queues' }],
    ['GET', '/v1/workers', undefined, { op: 'workers' }],
  ];
  for (const [method, path, body, request] of verbs) {
    it(`${method} ${path} asks for ${Object.values(request)[0]}`, async () => {
      stage.coordinator.decide = committed;
      const reply = await ask(method, path, body);
      expect(reply).to.include({ status: 200 });
      expect(asked()).to.have.length(1);
      expect(asked()[0]).to.deep.include(request);
    });
  }

  it('give refusals as problem documents with their status', async () => {
    stage.coordinator.decide = () =>
      rejected('task_terminal', 'It is over.', { taskState: 'DEAD' });
    const reply = await ask('POST', '/v1/tasks/T4/kill');
    expect(reply).to.include({ status: 409, type: 'application/problem+json; charset=utf-8' });
    expect(reply.json).to.include({ status: 409, outcome: 'REJECTED', task_state: 'DEAD' });
    stage.coordinator.decide = () => unavailable('log_unavailable', 'No.', 5_000);
    const later = await ask('POST', '/v1/tasks', { payload: 'p' });
    expect(later).to.include({ status: 503 });
    expect(later.headers['retry-after']).to.equal('5');
  });

  const malformed: readonly (readonly [string, string, unknown, string | undefined])[] = [
    ['POST', '/v1/tasks', '{"payload":', undefined],
    ['POST', '/v1/tasks', 'payload=p', undefined],
    ['POST', '/v1/tasks', '   ', undefined],
    ['POST', '/v1/tasks', '[]', undefined],
    ['POST', '/v1/tasks', '{"payload":"a","payload":"b"}', 'payload'],
    ['POST', '/v1/tasks', undefined, 'payload'],
    ['POST', '/v1/tasks?queue=q', { payload: 'p' }, 'queue'],
    ['GET', '/v1/config?x=1', undefined, 'x'],
    ['GET', '/v1/cluster?x', undefined, 'x'],
    ['GET', '/v1/segments?from=1', undefined, 'from'],
    ['GET', '/v1/tasks?after=x', undefined, 'after'],
    ['GET', '/v1/tasks?after=-1', undefined, 'after'],
    ['POST', '/v1/tasks', '{"payload":"p","delay_ms":1e-400}', 'delay_ms'],
    ['POST', '/v1/leases', undefined, 'worker_id'],
    ['POST', '/v1/leases', '{"worker_id":"w","max":1.00000000000000000001}', 'max'],
    ['POST', '/v1/leases?max=3', { worker_id: 'w' }, 'max'],
    ['POST', '/v1/leases/L-nope/complete', { task_id: 'T4' }, 'lease_id'],
    ['POST', '/v1/leases/L7/complete', { task_id: 'T4', lease_id: 'L7' }, 'lease_id'],
    [`POST`, `/v1/leases/L${'7'.repeat(900)}/complete`, { task_id: 'T4' }, 'lease_id'],
    ['POST', '/v1/tasks/constructor/kill', undefined, 'task_id'],
    ['GET', '/v1/tasks/__proto__', undefined, 'task_id'],
    ['GET', '/v1/tasks/T4?wait_ms=60001', undefined, 'wait_ms'],
    ['GET', '/v1/tasks/T4?wait_ms=-1', undefined, 'wait_ms'],
    ['GET', '/v1/tasks/T4?wait_ms=1.5', undefined, 'wait_ms'],
    ['GET', '/v1/tasks/T4?wait_ms=', undefined, 'wait_ms'],
    ['GET', '/v1/tasks/T4?wait_ms=1&wait_ms=2', undefined, 'wait_ms'],
    ['GET', '/v1/tasks?__proto__=1', undefined, '__proto__'],
    ['GET', '/v1/tasks?stat=DEAD', undefined, 'stat'],
    ['GET', '/v1/log?limit=1001', undefined, 'limit'],
    ['GET', '/v1/log?type=Nothing', undefined, 'type'],
    ['GET', '/v1/tasks/nope/explain', undefined, 'task_id'],
    ['GET', '/v1/tasks/T4/explain?columns=59', undefined, 'columns'],
    ['GET', '/v1/tasks/T4/explain?columns=wide', undefined, 'columns'],
    ['GET', '/v1/tasks/T4/explain?width=80', undefined, 'width'],
    ['POST', '/v1/queues/a%20b/tasks', 'p', 'queue'],
    ['POST', '/v1/queues/q/tasks?max_retries=x', 'p', 'max_retries'],
    ['POST', '/v1/queues/q/tasks?queue=q', 'p', 'queue'],
    ['POST', '/v1/batch', { requests: 5 }, 'requests'],
    ['POST', '/v1/batch', {}, 'requests'],
  ];
  for (const [method, path, body, field] of malformed) {
    it(`refuse ${method} ${path.slice(0, 60)} ${JSON.stringify(body) ?? ''}`, async () => {
      const reply = await ask(method, path, body);
      expect(reply).to.include({ status: 400, type: 'application/problem+json; charset=utf-8' });
      expect(reply.json).to.include({ outcome: 'REJECTED', reason: 'malformed', status: 400 });
      expect(reply.json.field).to.equal(field);
      expect(asked()).to.deep.equal([]);
    });
  }

  it('refuse an unknown query parameter in the same words on every route', async () => {
    // Whoever fetches these may add a parameter that keeps a cache from answering.
    const takeAny = ['metrics', 'livez', 'readyz', 'openapi'];
    const routes = OPERATION_NAMES.flatMap((op) => {
      const { http } = operationOf(op);
      return http === undefined || takeAny.includes(op) ? [] : [http];
    });
    expect(routes.length).to.be.greaterThan(15);
    for (const { method, path } of routes) {
      const url = path.replace('{task_id}', 'T4').replace('{lease_id}', 'L7');
      const { json } = await ask(method, `${url.replace('{queue}', 'q')}?unheard_of=1`);
      const detail = 'There is no query parameter unheard_of here.';
      expect(json, `${method} ${path}`).to.include({ detail, field: 'unheard_of' });
    }
    const near = await ask('GET', '/v1/tasks/T4?wait=1');
    expect(near.json.detail).to.equal(
      'There is no query parameter wait here; did you mean wait_ms?',
    );
    const long = await ask('GET', `/v1/tasks?${'x'.repeat(5_000)}=1`);
    expect(String(long.json.detail).length).to.be.lessThan(300);
  });

  it('take the raw body as the payload, byte for byte', async () => {
    stage.coordinator.decide = submitted;
    const body = Buffer.from([0xff, 0xfe, 0]);
    const path =
      '/v1/queues/mail/tasks?max_retries=7&backoff_ms=1&delay_ms=3&execution_window_ms=4';
    await ask('POST', path, body, { 'idempotency-key': 'k1', 'content-type': 'image/png' });
    await ask('POST', '/v1/queues/mail/tasks', '{"a":1,"a":2}', { 'content-type': 'text/json' });
    await ask('POST', '/v1/queues/mail/tasks');
    const [first, second, third] = asked();
    expect(first).to.include({ queue: 'mail', requestId: 'k1', maxRetries: 7, backoffMs: 1 });
    expect(first).to.deep.include({ delayMs: 3, executionWindowMs: 4, payload: body });
    expect(second).to.deep.include({ payload: Buffer.from('{"a":1,"a":2}') });
    expect(third).to.deep.include({ payload: Buffer.alloc(0) });
  });

  it('take Idempotency-Key for the request id, unless the two differ', async () => {
    stage.coordinator.decide = submitted;
    const key = { 'idempotency-key': 'k1' };
    await ask('POST', '/v1/tasks', { payload: 'p' }, key);
    await ask('POST', '/v1/tasks', { payload: 'p', request_id: 'k1' }, key);
    expect(asked().map((one) => 'requestId' in one && one.requestId)).to.deep.equal(['k1', 'k1']);
    const differ = await ask('POST', '/v1/tasks', { payload: 'p', request_id: 'k2' }, key);
    expect(differ.json).to.include({ reason: 'malformed', field: 'request_id' });
    const query = await ask('POST', '/v1/queues/q/tasks?request_id=k2', 'p', key);
    expect(query.json).to.include({ reason: 'malformed', field: 'request_id' });
  });

  it('read Idempotency-Key as UTF-8, and mend nothing: two keys must not become one', async () => {
    stage.coordinator.decide = submitted;
    const keyed = async (...lines: string[]): Promise<string> => {
      const wire = await Wire.open(stage.port);
      const keys = lines.map((key) => `idempotency-key: ${key}\r\n`).join('');
      const head = `POST /v1/queues/q/tasks HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n`;
      wire.socket.write(Buffer.from(`${head}${keys}content-length: 1\r\n\r\np`, 'latin1'));
      await until(() => wire.closed, 'the connection was closed');
      return wire.text;
    };
    await keyed(Buffer.from('ordré').toString('latin1'));
    expect(asked()[0]).to.include({ requestId: 'ordré' });
    for (const lines of [['ordr\u00e9'], ['ordr\u00e8'], ['a', 'b'], ['a', 'a']]) {
      const answer = await keyed(...lines);
      expect(answer)
        .to.match(/^HTTP\/1.1 400 /)
        .and.include('"field":"request_id"');
    }
    expect(asked()).to.have.length(1);
  });

  it('refuse a query that spells no UTF-8, and name the field', async () => {
    for (const url of [
      '/v1/queues/q/tasks?delay_ms=1&request_id=%ff',
      '/v1/tasks?request_id=%ff',
    ]) {
      const reply = await ask(url.includes('queues') ? 'POST' : 'GET', url);
      expect(reply.json).to.include({ status: 400, reason: 'malformed', field: 'request_id' });
    }
    expect(asked()).to.deep.equal([]);
  });

  it('refuse an empty part of the path, and name its field', async () => {
    const ids = { task_id: 'T1' };
    for (const [method, path, body, field] of [
      ['GET', '/v1/tasks/', undefined, 'task_id'],
      ['GET', '/v1/tasks//explain', undefined, 'task_id'],
      ['POST', '/v1/tasks//kill', {}, 'task_id'],
      ['POST', '/v1/tasks//redrive', {}, 'task_id'],
      ['POST', '/v1/leases//heartbeat', ids, 'lease_id'],
      ['POST', '/v1/leases//complete', ids, 'lease_id'],
      ['POST', '/v1/leases//fail', { ...ids, reason: 'r' }, 'lease_id'],
      ['POST', '/v1/queues//tasks', 'p', 'queue'],
    ] as const) {
      const reply = await ask(method, path, body);
      expect(reply.json, path).to.include({ status: 400, reason: 'malformed', field });
    }
  });

  it('give a story in the form that Accept wants most, JSON where it names none', () => {
    const forms = {
      '*/*': 'json',
      'text/html': 'json',
      'TEXT/PLAIN; charset=utf-8': 'text',
      'text/*': 'text',
      'application/json, text/plain, */*': 'json',
      'text/plain;q=0.1, application/json': 'json',
      'application/json;q=0.5, text/plain;q=0.8, image/svg+xml;q=0.7': 'text',
      'text/plain;q=0, image/svg+xml; q=0.2': 'svg',
      'text/plain;q=0': 'json',
      'text/plain;q=x': 'json',
      'image/avif,image/svg+xml,image/*,*/*;q=0.8': 'svg',
      constructor: 'json',
    };
    for (const [accept, form] of Object.entries(forms)) {
      expect(formOf(accept), accept).to.equal(form);
    }
    expect(formOf(undefined)).to.equal('json');
  });

  it('refuse each method that they do not take, whichever node reads, in one way', async () => {
    for (const method of METHODS.filter((one) => one !== 'CONNECT')) {
      const [known, unknown] = [await ask(method, '/v1/leases'), await ask(method, '/v1/nope')];
      if (method !== 'POST') expect(known, method).to.include({ status: 405 });
      expect(unknown, method).to.include({ status: 404 });
    }
  });

  it('are those that /openapi.json lists, and no others', async () => {
    const { json } = await ask('GET', '/openapi.json');
    const listed: string[] = [];
    for (const [path, methods] of Object.entries(json.paths as Record<string, object>)) {
      const url = path
        .replace('{task_id}', 'T4')
        .replace('{lease_id}', 'L7')
        .replace('{queue}', 'q');
      const reply = await ask('PUT', url);
      const allow = String(reply.headers['allow']).replace('GET, HEAD', 'GET').split(', ');
      expect(Object.keys(methods).map((method) => method.toUpperCase())).to.have.members(allow);
      listed.push(...allow.map((method) => `${method} ${path}`));
    }
    const routes = [
      ...routesOf(
        { gate: undefined, limits: {}, batchMaxBytes: 1 } as never,
        readHandlers({ version: '', shownConfig: {} } as never),
      ),
    ].map(({ method, url }) => `${method} ${url.replace(/:(\w+)/g, '{$1}')}`);
    expect(routes).to.have.members(listed);
  });

  it('list in /openapi.json what they refuse with before anybody is asked', async () => {
    const { json } = await ask('GET', '/openapi.json');
    const told = new Set<number>();
    const hostile: Record<string, string>[] = [
      { 'content-encoding': 'gzip' },
      { origin: 'http://x' },
      {},
    ];
    for (const headers of hostile) {
      const reply = await ask('POST', '/v1/tasks', '{', headers);
      expect(json.paths['/v1/tasks'].post.responses).to.have.property(String(reply.status));
      told.add(reply.status);
    }
    expect([...told]).to.deep.equal([415, 403, 400]);
  });

  it('show the configuration', async () => {
    const reply = await ask('GET', '/v1/config');
    expect(reply.json).to.deep.equal({ knob: 1 });
  });
});
