// Throws what nobody meant to send at the HTTP ingress: it must answer everything that is a
// request, crash of nothing, and let no refused input reach the mailbox. FUZZ_RUNS makes it longer.

import { expect } from 'chai';
import fc from 'fast-check';
import { type Stage, send, startServer, until, Wire } from './http-support.ts';

const runs = Number(process.env['FUZZ_RUNS'] ?? 300);
const FIELDS = [
  'payload',
  'payload_base64',
  'queue',
  'request_id',
  'execution_window_ms',
  'retry_policy',
  'delay_ms',
  'metadata',
  'worker_id',
  'queues',
  'max',
  'wait_ms',
  'task_id',
  'lease_id',
  'reason',
  'kind',
  'result',
  'requests',
  'op',
  '__proto__',
  'constructor',
];
const PATHS = [
  '/v1/tasks',
  '/v1/leases',
  '/v1/leases/L2/complete',
  '/v1/leases/L2/fail',
  '/v1/leases/L2/heartbeat',
  '/v1/tasks/T1/kill',
  '/v1/tasks/T1/redrive',
  '/v1/batch',
  '/v1/queues/q/tasks',
];

const leaf = fc.oneof(
  fc.constantFrom<unknown>(
    'p',
    'T1',
    'L2',
    '',
    'error',
    'submit',
    0,
    1,
    -1,
    1.5,
    1e300,
    null,
    true,
  ),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.double(),
  fc.integer(),
);
const { body } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    leaf,
    tie('body'),
    fc.array(tie('value'), { maxLength: 4 }),
  ),
  body: fc
    .array(fc.tuple(fc.constantFrom(...FIELDS), tie('value')), { maxLength: 5 })
    .map(
      (entries) => `{${entries.map(([key, value]) => `${JSON.stringify(key)}:${textOf(value)}`)}}`,
    )
    .map((text) => new Text(text)),
}));

/** JSON that is put together as text, so that a key may stand in it twice. */
class Text {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}
const textOf = (value: unknown): string => {
  if (value instanceof Text) return value.text;
  if (Array.isArray(value)) return `[${value.map(textOf)}]`;
  return typeof value === 'number' && !Number.isFinite(value) ? '1e999' : JSON.stringify(value);
};

/** Cuts, doubles or replaces a byte somewhere. */
const damaged = fc.tuple(body, fc.nat(), fc.nat(255), fc.nat(3)).map(([value, at, byte, how]) => {
  const bytes = Buffer.from(textOf(value));
  const place = bytes.length === 0 ? 0 : at % bytes.length;
  if (how === 0) return bytes.subarray(0, place);
  if (how === 1) bytes[place] = byte;
  if (how === 2) return Buffer.concat([bytes.subarray(0, place), bytes]);
  return bytes;
});

describe('HTTP under fuzz', () => {
  let stage: Stage;
  before(async () => {
    stage = await startServer({
      decide: () => ({ kind: 'committed', taskState: 'COMPLETED', record: 1 }),
    });
  });
  after(() => stage.server.stop());

  it('bodies are answered, and refused ones ask for nothing', async function () {
    this.timeout(180_000 + runs * 100);
    let taken = 0;
    const property = fc.asyncProperty(fc.constantFrom(...PATHS), damaged, async (path, bytes) => {
      stage.coordinator.asked.length = 0;
      const reply = await send(stage.port, 'POST', path, bytes);
      if (reply.status >= 400) {
        expect(reply.type).to.match(/^application\/problem\+json/);
        expect(reply.json).to.include({ outcome: 'REJECTED', status: reply.status });
        expect(reply.status).to.be.oneOf([400, 413]);
        expect(stage.coordinator.asked).to.deep.equal([]);
      } else {
        expect(reply.status).to.equal(200);
        const answers = path === '/v1/batch' ? reply.json.answers : [reply.json];
        const good = answers.filter((one: { outcome: string }) => one.outcome === 'COMMITTED');
        expect(stage.coordinator.asked).to.have.length(good.length);
        taken += good.length;
      }
    });
    await fc.assert(property, { numRuns: runs });
    expect(taken).to.be.greaterThan(runs / 50);
  });

  it('paths and queries are answered', async function () {
    this.timeout(180_000 + runs * 100);
    const part = fc.string({ unit: 'binary-ascii', maxLength: 20 }).map(encodeURIComponent);
    const path = fc
      .tuple(fc.constantFrom('/', '/v1/tasks', '/v1/tasks/', '/v1/log'), part, part, part)
      .map(([start, more, name, value]) => `${start}${more}?${name}=${value}&%`);
    const property = fc.asyncProperty(path, async (target) => {
      const reply = await send(stage.port, 'GET', target);
      expect(reply.status).to.be.oneOf([400, 404]);
      expect(reply.type).to.match(/^application\/problem\+json/);
    });
    await fc.assert(property, { numRuns: runs });
  });

  it('bytes are answered or cut off, and others go on', async function () {
    this.timeout(180_000 + runs * 200);
    const line = fc.constantFrom(
      'POST /v1/tasks HTTP/1.1\r\n',
      'GET /livez HTTP/1.1\r\n',
      'host: localhost\r\n',
      'content-length: 5\r\n',
      'transfer-encoding: chunked\r\n',
      'connection: upgrade\r\nupgrade: websocket\r\n',
      'expect: 100-continue\r\n',
      'expect: tea\r\n',
      'CONNECT a:1 HTTP/1.1\r\n',
      '\r\n',
      '5\r\nhello\r\n0\r\n\r\n',
      '{"payload":"p"}',
      '\0\xff',
    );
    const property = fc.asyncProperty(fc.array(line, { maxLength: 8 }), async (lines) => {
      const wire = await Wire.open(stage.port);
      wire.write(lines.join(''));
      wire.socket.end();
      await until(() => wire.closed, `the connection was closed after ${JSON.stringify(lines)}`);
      if (wire.text !== '') expect(wire.text).to.match(/^HTTP\/1\.1 \d\d\d /);
    });
    await fc.assert(property, { numRuns: runs });
    expect(await send(stage.port, 'GET', '/livez')).to.include({ status: 200 });
  });

  it('depth does not crash it', async () => {
    for (const depth of [3_500, 900_000]) {
      const deep = await send(stage.port, 'POST', '/v1/batch', `{"requests":${'['.repeat(depth)}`);
      expect(deep.status).to.be.oneOf([400, 413]);
      const metadata = `{"payload":"p","metadata":${'{"a":'.repeat(depth)}`;
      const reply = await send(stage.port, 'POST', '/v1/tasks', metadata);
      expect(reply.status).to.be.oneOf([400, 413]);
    }
  });
});
