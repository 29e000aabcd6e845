// What the socket says to every kind of line: JSON-RPC 2.0, strictly, and never silence.

import { expect } from 'chai';
import { eachWithServer, type FakeBackend, until } from './socket-support.ts';

const call = (id: number | string, method: string, params: object = {}) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});

describe('socket protocol', () => {
  let backend: FakeBackend;
  const { open } = eachWithServer((parts) => {
    backend = parts.backend;
  });

  it('answers a call with its id and the body as it came', async () => {
    backend.onAsk = ({ answer }) => answer('{"a": 1,  "b":"\\u00e9"}');
    const peer = open();
    peer.send(call('x"y', 'stats'));
    await peer.answers(1);
    expect(peer.lines[0]).to.equal(
      '{"jsonrpc":"2.0","id":"x\\"y","result":{"a": 1,  "b":"\\u00e9"}}',
    );
  });

  it('hands on what was asked', async () => {
    const peer = open();
    peer.send(call(1, 'heartbeat', { task_id: 'T4', lease_id: 'L7' }));
    await peer.answers(1);
    expect(backend.asked[0]?.request).to.deep.equal({ op: 'heartbeat', taskId: 4, leaseId: 7 });
  });

  it('keeps every letter: of an id, of a body, and of what it quotes in an error', async () => {
    backend.onAsk = ({ answer }) => answer({ payload: 'é€😀', queue: 'q' });
    const peer = open();
    peer.send(call('ü€😀', 'stats'), call('ü', 'ä€😀'), JSON.stringify([call('é😀', 'stats')]));
    const [one, unknown, batch] = await peer.answers(3);
    expect(one).to.include({ id: 'ü€😀' }).and.nested.include({ 'result.payload': 'é€😀' });
    expect(unknown).to.include({ id: 'ü' });
    expect(unknown.error.message).to.equal('There is no method "ä€😀".');
    expect(batch[0]).to.include({ id: 'é😀' }).and.nested.include({ 'result.payload': 'é€😀' });
  });

  it('keeps the order of lines and of a batch around answers of any size', async () => {
    const sizes = [10, 70_000, 5, 1_500_000, 20, 65_536, 200_000];
    backend.onAsk = ({ ticket, answer }) =>
      answer({ n: ticket, text: 'é'.repeat((sizes[(ticket - 1) % sizes.length] as number) / 2) });
    const peer = open();
    const calls = sizes.map((_, index) => call(index, 'stats'));
    peer.send(...calls, JSON.stringify(calls));
    const lines = await peer.answers(sizes.length + 1);
    const batch = lines.at(-1);
    for (const answers of [lines.slice(0, -1), batch]) {
      expect(answers.map((each: { id: unknown }) => each.id)).to.deep.equal([0, 1, 2, 3, 4, 5, 6]);
      const lengths = answers.map((each: { result: { text: string } }) => each.result.text.length);
      expect(lengths).to.deep.equal(sizes.map((size) => Math.floor(size / 2)));
    }
  });

  it('answers out of order when a later call is ready first', async () => {
    backend.onAsk = ({ request, answer }) => {
      if (request.op === 'stats') answer({ quick: true });
    };
    const peer = open();
    peer.send(call(1, 'lease', { worker_id: 'w', wait_ms: 60_000 }), call(2, 'stats'));
    expect((await peer.answers(1))[0]).to.include({ id: 2 });
    backend.asked[0]?.answer({ leases: [] });
    expect((await peer.answers(2))[1]).to.include({ id: 1 });
  });

  it('answers a batch in one line, in the order of its calls', async () => {
    backend.onAsk = () => {};
    const peer = open();
    peer.send(JSON.stringify([call('a', 'stats'), { nonsense: 1 }, call('b', 'stats')]));
    await until(() => backend.asked.length === 2);
    backend.asked[1]?.answer({ n: 2 });
    expect(peer.lines).to.have.length(0);
    backend.asked[0]?.answer({ n: 1 });
    const [answers] = await peer.answers(1);
    expect(answers.map((each: { id: unknown }) => each.id)).to.deep.equal(['a', null, 'b']);
    expect(answers[0].result).to.deep.equal({ n: 1 });
    expect(answers[1].error.code).to.equal(-32600);
    expect(answers[2].result).to.deep.equal({ n: 2 });
  });

  const refused: [
    what: string,
    line: string,
    code: number,
    field?: string | undefined,
    id?: unknown,
  ][] = [
    ['half a line of JSON', '{"jsonrpc":"2.0","id":1,"method":"subm', -32700],
    ['two values', '{"jsonrpc":"2.0","id":1} {}', -32700],
    ['no JSON at all', 'hello', -32700],
    ['a control character', '\u0001', -32700],
    ['nesting without end', '['.repeat(5_000), -32700],
    ['a string', '"text"', -32600],
    ['an empty batch', '[]', -32600],
    ['no id', '{"jsonrpc":"2.0","method":"stats"}', -32600, 'id'],
    ['id null', '{"jsonrpc":"2.0","id":null,"method":"stats"}', -32600, 'id'],
    [
      'an id that would be rounded',
      '{"jsonrpc":"2.0","id":9007199254740993,"method":"stats"}',
      -32600,
      'id',
    ],
    ['no version', '{"id":7,"method":"stats"}', -32600, 'jsonrpc', 7],
    ['a method that is no string', '{"jsonrpc":"2.0","id":7,"method":5}', -32600, 'method', 7],
    [
      'an unknown member',
      '{"jsonrpc":"2.0","id":7,"method":"stats","param":{}}',
      -32600,
      'param',
      7,
    ],
    [
      '__proto__ as a member',
      '{"jsonrpc":"2.0","id":7,"method":"stats","__proto__":{}}',
      -32600,
      '__proto__',
      7,
    ],
    ['an unknown method', '{"jsonrpc":"2.0","id":7,"method":"toString"}', -32601, undefined, 7],
    [
      'params by position',
      '{"jsonrpc":"2.0","id":7,"method":"submit","params":["p"]}',
      -32602,
      undefined,
      7,
    ],
    [
      'params that are none',
      '{"jsonrpc":"2.0","id":7,"method":"submit","params":"p"}',
      -32602,
      undefined,
      7,
    ],
    [
      'a wrong type',
      '{"jsonrpc":"2.0","id":7,"method":"submit","params":{"payload":5}}',
      -32602,
      'payload',
      7,
    ],
    [
      'a key twice in params',
      '{"jsonrpc":"2.0","id":7,"method":"submit","params":{"payload":"a","payload":"b"}}',
      -32602,
      'payload',
      7,
    ],
    [
      'a key twice in the call',
      '{"jsonrpc":"2.0","id":7,"method":"stats","method":"stats"}',
      -32600,
      'method',
      7,
    ],
    [
      'a member twice whose name has a dot',
      '{"jsonrpc":"2.0","id":7,"method":"stats","params.x":1,"params.x":2}',
      -32600,
      'params.x',
    ],
    [
      'a param twice whose name has a dot',
      '{"jsonrpc":"2.0","id":7,"method":"submit","params":{"payload":"a","a.b":1,"a.b":2}}',
      -32602,
      'a.b',
      7,
    ],
    [
      'a fraction that would be lost',
      '{"jsonrpc":"2.0","id":7,"method":"tasks","params":{"limit":1.00000000000000000001}}',
      -32602,
      'limit',
      7,
    ],
    [
      'an id whose fraction would be lost',
      '{"jsonrpc":"2.0","id":9007199254740991.4,"method":"stats"}',
      -32600,
      'id',
    ],
    ['the id twice', '{"jsonrpc":"2.0","id":7,"id":8,"method":"stats"}', -32600, 'id'],
    [
      'an id of the wrong shape',
      '{"jsonrpc":"2.0","id":7,"method":"explain","params":{"task_id":"42"}}',
      -32602,
      'task_id',
      7,
    ],
  ];
  for (const [what, line, code, field, id = null] of refused) {
    it(`refuses ${what} with ${code}, asks nobody, and goes on`, async () => {
      const peer = open();
      peer.send(line, call('next', 'config'));
      const [refusal, next] = await peer.answers(2);
      expect(refusal.error.code).to.equal(code);
      expect(refusal.id).to.equal(id);
      if (field !== undefined) expect(refusal.error.data.field).to.equal(field);
      expect(next.id).to.equal('next');
      expect(backend.asked).to.have.length(0);
    });
  }

  it('refuses invalid UTF-8 and takes split UTF-8', async () => {
    const peer = open();
    const line = Buffer.from(`${JSON.stringify(call(1, 'submit', { payload: 'é€😀' }))}\n`);
    const broken = Buffer.from(line);
    broken[line.indexOf(0xe2)] = 0xff;
    peer.socket.write(broken);
    expect((await peer.answers(1))[0].error.code).to.equal(-32700);
    for (const byte of line) peer.socket.write(Buffer.from([byte]));
    await peer.answers(2);
    const [asked] = backend.asked;
    expect(asked?.request).to.have.property('payload').that.deep.equals(Buffer.from('é€😀'));
  });

  it('refuses a wait in a batch: it would hold the others back', async () => {
    const peer = open();
    peer.send(JSON.stringify([call(1, 'lease', { worker_id: 'w', wait_ms: 5 }), call(2, 'stats')]));
    const [[waits, other]] = await peer.answers(1);
    expect(waits.error).to.deep.include({ code: -32602 });
    expect(waits.error.data.field).to.equal('wait_ms');
    expect(other.result).to.deep.equal({ op: 'stats' });
  });

  it('answers a payload over the limit with a result: the call was well-formed', async () => {
    const peer = open();
    peer.send(call(1, 'submit', { payload: 'x'.repeat(1_001) }));
    expect((await peer.answers(1))[0].result).to.include({
      outcome: 'REJECTED',
      reason: 'too_large',
    });
  });

  it('refuses a line over the limit without keeping it, and goes on', async () => {
    const peer = open();
    for (let i = 0; i < 50; i += 1) peer.socket.write('{'.repeat(10_000));
    peer.send('', call(1, 'stats'));
    const [tooLong, next] = await peer.answers(2);
    expect(tooLong).to.deep.include({ id: null });
    expect(tooLong.error.data).to.deep.include({ reason: 'too_large', limit_bytes: 6_000 });
    expect(next.id).to.equal(1);
  });

  it('lets a batch be longer than a lone line', async () => {
    const peer = open();
    const calls = Array.from({ length: 20 }, (_, id) =>
      call(id, 'submit', { payload: 'x'.repeat(900) }),
    );
    peer.send(JSON.stringify(calls));
    expect((await peer.answers(1))[0]).to.have.length(20);
  });

  it('passes over blank lines, as people send them', async () => {
    const peer = open();
    peer.send('', '   \r', `${JSON.stringify(call(1, 'stats'))}\r`);
    expect((await peer.answers(1))[0]).to.include({ id: 1 });
  });

  const attack = JSON.stringify(call(1, 'submit', { payload: 'from a web page' }));
  const requestLines = [
    'POST / HTTP/1.1',
    'GET /v1/tasks?limit=1 HTTP/1.0',
    'PRI * HTTP/2.0',
    'BREW /pot HTTP/1.1',
    `GET /${'x'.repeat(5_000)} HTTP/1.1`,
    '\r\n\r\nOPTIONS * HTTP/1.1',
  ];
  for (const requestLine of requestLines) {
    const shown = JSON.stringify(requestLine.slice(0, 40));
    it(`answers HTTP with the right address, and reads nothing after ${shown}`, async () => {
      const peer = open();
      peer.socket.write(`${requestLine}\r\nHost: 127.0.0.1\r\n\r\n${attack}\n`);
      await peer.until(() => peer.lines.length >= 6);
      peer.send(attack, attack);
      peer.socket.end();
      await peer.until(() => peer.isClosed);
      expect(backend.asked).to.have.length(0);
      expect(peer.lines[0]).to.equal('HTTP/1.1 400 Bad Request\r');
      expect(peer.lines).to.include('connection: close\r');
      expect(peer.lines.at(-1)).to.include('http://127.0.0.1:5327');
      expect(peer.lines).to.have.length(6);
    });
  }

  it('cuts off a client of HTTP that goes on sending', async () => {
    const peer = open();
    peer.socket.write('POST / HTTP/1.1\r\n');
    await peer.until(() => peer.lines.length >= 6);
    const more = setInterval(() => peer.send(attack), 20);
    await peer.until(() => peer.isClosed);
    clearInterval(more);
    expect(backend.asked).to.have.length(0);
  });

  it('answers a request line that comes without a line feed', async () => {
    const peer = open();
    peer.socket.end('GET / HTTP/1.1');
    await peer.until(() => peer.isClosed);
    expect(peer.lines[0]).to.equal('HTTP/1.1 400 Bad Request\r');
  });

  const payloads = ['GET / HTTP/1.1', ' HTTP/1', 'a HTTP/1.1\r\nb', 'POST /v1/tasks HTTP/1.1'];
  for (const payload of payloads) {
    it(`takes a first call for a call that carries ${JSON.stringify(payload)}`, async () => {
      for (const asked of [call(1, 'submit', { payload }), [call(1, 'submit', { payload })]]) {
        const peer = open();
        peer.send(` ${JSON.stringify(asked)}`, call(2, 'stats'));
        const answers = (await peer.answers(2)).flat();
        expect(answers.map(({ id, result }) => [id, result.op])).to.deep.equal([
          [1, 'submit'],
          [2, 'stats'],
        ]);
      }
    });
  }

  for (const line of ['GET /', 'hello HTTP/1.1', 'HTTP/1.1 200 OK', 'GET / HTTP/1.1 {}', 'GET']) {
    it(`refuses ${line} as no JSON, and goes on`, async () => {
      const peer = open();
      peer.send(line, call(2, 'stats'));
      const [refusal, next] = await peer.answers(2);
      expect(refusal.error.code).to.equal(-32700);
      expect(next.result).to.deep.equal({ op: 'stats' });
    });
  }

  it('takes HTTP for any other line once a call has come', async () => {
    const peer = open();
    peer.send(call(1, 'stats'), 'GET / HTTP/1.1', call(2, 'stats'));
    const answers = await peer.answers(3);
    expect(answers.map((each) => each.error?.code)).to.deep.equal([undefined, -32700, undefined]);
  });

  it('reads nothing after a first line that is too long and no JSON', async () => {
    const peer = open();
    peer.socket.write(`GET /${'x'.repeat(7_000)} HTTP/1.1\r\n${attack}\n`);
    await peer.until(() => peer.lines.length > 0);
    peer.send(attack);
    peer.socket.end();
    await peer.until(() => peer.isClosed);
    expect(backend.asked).to.have.length(0);
    expect(peer.lines).to.have.length(1);
    expect(JSON.parse(peer.lines[0] ?? '').error.data.reason).to.equal('too_large');
  });

  describe('with a token', () => {
    beforeEach(() => {
      backend.token = 'secret';
    });

    it('answers everything before it with -32001, and then works', async () => {
      // The admission is decided when a connection opens.
      const peer = open();
      peer.send(call(1, 'stats'), call(2, 'nonsense'), call(3, 'auth', { token: 'wrong' }));
      peer.send(call(4, 'stats'), call(5, 'auth', { token: 'secret' }), call(6, 'stats'));
      const answers = await peer.answers(6);
      expect(answers.slice(0, 4).map((each) => each.error?.code)).to.deep.equal([
        -32001, -32001, -32001, -32001,
      ]);
      expect(answers[4].result).to.deep.equal({ outcome: 'OK' });
      expect(answers[5].result).to.deep.equal({ op: 'stats' });
      expect(backend.asked).to.have.length(1);
    });

    it('refuses what else auth is given, and what is no token, by field', async () => {
      const peer = open();
      peer.send(call(1, 'auth', { token: 'secret', user: 'me' }), call(2, 'auth', { token: 5 }));
      peer.send(call(3, 'stats'));
      const answers = await peer.answers(3);
      expect(answers.map((each) => each.error?.code)).to.deep.equal([-32602, -32602, -32001]);
      expect(answers.map((each) => each.error?.data?.field)).to.deep.equal([
        'user',
        'token',
        undefined,
      ]);
    });
  });

  it('answers the config, and explain from the reader', async () => {
    const peer = open();
    peer.send(call(1, 'config'), call(2, 'explain', { task_id: 'T9' }));
    const [config, story] = await peer.answers(2);
    expect(config.result.payload_max_bytes.value).to.equal(1_000);
    expect(story.result).to.deep.equal({ task_id: 'T9', story: true });
  });
});
