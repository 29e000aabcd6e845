// The socket of the real executable, spoken to in bytes.

import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { sharedServer } from '../client/real-server.ts';

describe('the socket end to end', () => {
  const server = sharedServer();
  const sockets: Socket[] = [];
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });
  const open = (): Socket => {
    const socket = connect(server.socketPort, '127.0.0.1');
    socket.on('error', () => {});
    sockets.push(socket);
    return socket;
  };
  const call = (id: number, method: string, params: object): string =>
    `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;
  /** All lines until the server closes its half. */
  async function linesOf(socket: Socket): Promise<Record<string, unknown>[]> {
    let text = '';
    for await (const chunk of socket.setEncoding('utf8')) text += chunk;
    const lines = text.split('\n').filter((line) => line !== '');
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  it('records and answers 10 000 submits sent in one write, each once', async () => {
    const ids = Array.from({ length: 10_000 }, (_, id) => id);
    const socket = open();
    socket.end(ids.map((id) => call(id, 'submit', { payload: `${id}`, queue: 'many' })).join(''));
    const answers = await linesOf(socket);
    expect(new Set(answers.map(({ id }) => id)).size).to.equal(ids.length);
    const tasks = answers.map(({ result }) => (result as { task_id: string }).task_id);
    expect(new Set(tasks).size).to.equal(ids.length);
    const created = (await server.log()).filter(({ type }) => type === 'TaskCreated');
    expect(created).to.have.length(ids.length);
  });

  it('tells a client of HTTP where HTTP is spoken', async () => {
    const wrong = await fetch(`http://127.0.0.1:${server.socketPort}/v1/stats`);
    expect(wrong.status).to.equal(400);
    const told = /http:\/\/[^ ]+\d/.exec(await wrong.text())?.[0];
    expect((await fetch(`${told}/v1/stats`)).status).to.equal(200);
  });

  it('ends a long poll by the half-close, and grants nothing to who is gone', async () => {
    const parked = { worker_id: 'w', queues: ['later'], wait_ms: 60_000 };
    const half = open();
    half.write(call(1, 'lease', parked));
    half.end();
    const [answer] = await linesOf(half);
    expect(answer?.result).to.deep.include({ leases: [] });
    const gone = open();
    await new Promise<void>((resolve) => gone.write(call(1, 'lease', parked), () => resolve()));
    gone.resetAndDestroy();
    // Two connections have no order between them: the reset must have arrived first.
    for (let parkedNow = 1; parkedNow !== 0; ) {
      const asking = open();
      asking.end(call(1, 'stats', {}));
      const stats = (await linesOf(asking))[0]?.result as { parked_requests: number };
      parkedNow = stats.parked_requests;
    }
    const other = open();
    other.end(
      call(1, 'submit', { payload: 'x', queue: 'later' }) +
        call(2, 'lease', { worker_id: 'v', queues: ['later'] }),
    );
    const result = (await linesOf(other)).find(({ id }) => id === 2)?.result;
    expect(result).to.have.property('leases').with.length(1);
  });

  it('gives payloads back byte for byte, however the line was cut', async () => {
    const payload = 'é€😀\u0000\\"\u2028 {"a":1}';
    const line = Buffer.from(call(1, 'submit', { payload, queue: 'bytes' }));
    const socket = open();
    for (const byte of line) socket.write(Buffer.from([byte]));
    socket.end(call(2, 'lease', { worker_id: 'w', queues: ['bytes'], wait_ms: 1_000 }));
    const leased = (await linesOf(socket)).find(({ id }) => id === 2)?.result;
    expect(leased).to.have.nested.property('leases[0].payload', payload);
  });
});
