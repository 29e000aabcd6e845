// Holds the proxies to what they understand of a message: one request or a batch of them, over HTTP
// and over the line socket. Behind each proxy stands a server that answers whatever it is told to.

import { once } from 'node:events';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { expect } from 'chai';
import { httpProxy } from '../../src/rehearse/http-proxy.ts';
import { lineProxy } from '../../src/rehearse/line-proxy.ts';
import type { Listening } from '../../src/rehearse/listening.ts';
import { Points } from '../../src/rehearse/points.ts';
import { httpRequests, lineRequest, pointsOf } from '../../src/rehearse/requests.ts';
import { type Asked, Traffic } from '../../src/rehearse/traffic.ts';

const HEARTBEAT = { op: 'heartbeat', task_id: 'T2', lease_id: 'L3' };
const COMPLETE = { op: 'complete', task_id: 'T4', lease_id: 'L5', result: 'x' };
const LEASED = { leases: [{ task_id: 'T2', lease_id: 'L3', attempt: 1, fencing_token: 3 }] };

const portOf = (server: net.Server): number => (server.address() as AddressInfo).port;
const listening = async <S extends net.Server>(server: S): Promise<S> => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
};

describe('the requests of a message', () => {
  const names = ({ op, taskId, leaseId }: Asked) => [op, taskId, leaseId];

  it('are those of a batch, one by one', () => {
    const body = JSON.stringify({ requests: [HEARTBEAT, COMPLETE, 'no request'] });
    expect(httpRequests('POST', '/v1/batch', body).map(names)).to.deep.equal([
      ['heartbeat', 'T2', 'L3'],
      ['complete', 'T4', 'L5'],
      [undefined, undefined, undefined],
    ]);
  });

  it('say the same alone, in a batch and on the line socket', () => {
    const { op, ...params } = COMPLETE;
    const { lease_id: leaseId, ...body } = params;
    const alone = httpRequests('POST', `/v1/leases/${leaseId}/complete`, JSON.stringify(body));
    const batch = JSON.stringify({ requests: [COMPLETE] });
    expect(httpRequests('POST', '/v1/batch', batch)).to.deep.equal(alone);
    expect([lineRequest({ method: op, params })]).to.deep.equal(alone);
  });

  it('pass the points that the table of operations gives them', () => {
    expect(pointsOf('lease')).to.deep.equal(['lease', 'grant']);
    expect(pointsOf('heartbeat')).to.deep.equal(['heartbeat', 'heartbeat answer']);
    for (const op of ['complete', 'fail'] as const) {
      expect(pointsOf(op)).to.deep.equal(['report', 'report answer']);
    }
    for (const op of ['submit', 'kill', 'task', undefined] as const) {
      expect(pointsOf(op)).to.deep.equal(['other', 'other answer']);
    }
  });
});

describe('the HTTP proxy of a rehearsal', () => {
  let backend: http.Server;
  let proxy: Listening;
  let points: Points;
  let traffic: Traffic;
  let answer: object;
  beforeEach(async () => {
    points = new Points();
    traffic = new Traffic();
    backend = await listening(
      http.createServer((request, response) => {
        request.resume().on('end', () => response.end(JSON.stringify(answer)));
      }),
    );
    proxy = await httpProxy({ worker: 1, toPort: portOf(backend), points, traffic });
  });
  afterEach(async () => {
    await proxy.close();
    backend.close();
  });

  const ask = async (...requests: object[]): Promise<unknown> => {
    const init = { method: 'POST', body: JSON.stringify({ requests }) };
    return (await fetch(`http://127.0.0.1:${proxy.port}/v1/batch`, init)).json();
  };

  it('remembers each request of a batch with its own answer', async () => {
    answer = { answers: [{ http_status: 200, ...LEASED }, { outcome: 'CANCELLED' }] };
    await ask({ op: 'lease', worker_id: 'w' }, COMPLETE);
    const [lease, complete] = traffic.exchanges;
    expect(lease?.granted.map(({ leaseId }) => leaseId)).to.deep.equal(['L3']);
    expect(complete).to.include({ op: 'complete', leaseId: 'L5' });
    expect(complete?.answered?.outcome).to.equal('CANCELLED');
    expect(complete?.deliveredAt).to.be.a('number');
  });

  it('holds a batch at the point of each of its requests', async () => {
    answer = { answers: [{ outcome: 'OK' }, { outcome: 'COMMITTED' }] };
    const holding = points.hold('report');
    const asked = ask(HEARTBEAT, COMPLETE);
    const held = await holding;
    expect(held).to.include({ taskId: 'T4', leaseId: 'L5' });
    held.let('lose');
    expect(await asked.catch(() => 'cut')).to.equal('cut');
    expect(traffic.exchanges.map(({ requestFate }) => requestFate)).to.deep.equal(['lose', 'lose']);
  });

  it('refuses each request of a batch by itself', async () => {
    points.always('report', 'unavailable');
    const { answers } = (await ask(HEARTBEAT, COMPLETE)) as { answers: { outcome: string }[] };
    expect(answers.map(({ outcome }) => outcome)).to.deep.equal(['UNAVAILABLE', 'UNAVAILABLE']);
    const outcomes = traffic.exchanges.map(({ answered }) => answered?.outcome);
    expect(outcomes).to.deep.equal(['UNAVAILABLE', 'UNAVAILABLE']);
  });

  it('delays what comes to a point until it is let go on', async () => {
    answer = { answers: [{ outcome: 'COMMITTED' }] };
    const end = points.delay('report');
    const holding = points.hold('heartbeat');
    const late = ask(COMPLETE);
    const other = ask(HEARTBEAT);
    (await holding).let('pass');
    await other;
    expect(traffic.exchanges.filter(({ answered }) => answered !== undefined)).to.have.length(1);
    end();
    await late;
    expect(traffic.exchanges.every(({ answered }) => answered !== undefined)).to.equal(true);
  });
});

describe('the line proxy of a rehearsal', () => {
  let backend: net.Server;
  let proxy: Listening;
  let points: Points;
  let traffic: Traffic;
  let lines: string[];
  beforeEach(async () => {
    points = new Points();
    traffic = new Traffic();
    lines = [];
    backend = await listening(
      net.createServer({ allowHalfOpen: true }, (socket) => {
        let given = '';
        socket.on('data', (chunk) => (given += chunk));
        socket.on('error', () => {});
        // Everything is answered when the other side has said all.
        socket.on('end', () => {
          lines.push(...given.split('\n').filter(Boolean));
          socket.end(lines.map((line) => `${answerTo(JSON.parse(line))}\n`).join(''));
        });
      }),
    );
    proxy = await lineProxy({ worker: 1, toPort: portOf(backend), points, traffic });
  });
  afterEach(async () => {
    await proxy.close();
    backend.close();
  });

  const answerTo = (calls: { id: number } | { id: number }[]): string => {
    const one = ({ id }: { id: number }) => ({ jsonrpc: '2.0', id, result: { outcome: 'OK' } });
    return JSON.stringify(Array.isArray(calls) ? calls.map(one) : one(calls));
  };
  const call = (id: number, { op, ...params }: { op: string }) => ({ id, method: op, params });

  /** Says all of it, closes the sending half, and reads to the end. */
  const say = async (text: string): Promise<string> => {
    const socket = net.connect(proxy.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.end(text);
    let got = '';
    for await (const chunk of socket) got += chunk;
    return got;
  };

  it('remembers each call of a batch with its own answer', async () => {
    const batch = [call(1, HEARTBEAT), call(2, COMPLETE)];
    expect(JSON.parse(await say(`${JSON.stringify(batch)}\n`))).to.have.length(2);
    expect(traffic.exchanges.map(({ op }) => op)).to.deep.equal(['heartbeat', 'complete']);
    for (const { answered, deliveredAt } of traffic.exchanges) {
      expect(answered?.outcome).to.equal('OK');
      expect(deliveredAt).to.be.a('number');
    }
  });

  it('refuses each call of a batch by itself', async () => {
    points.always('report', 'unavailable');
    const batch = [call(1, HEARTBEAT), call(2, COMPLETE)];
    const answers = JSON.parse(await say(`${JSON.stringify(batch)}\n`)) as {
      result: { outcome: string };
    }[];
    expect(answers.map(({ result }) => result.outcome)).to.deep.equal([
      'UNAVAILABLE',
      'UNAVAILABLE',
    ]);
  });

  it('hands on what was held, also when its sender has closed its half meanwhile', async () => {
    const holding = points.hold('report');
    const said = say(`${JSON.stringify(call(1, COMPLETE))}\n`);
    (await holding).let('pass');
    expect(JSON.parse(await said)).to.deep.include({ id: 1 });
    expect(lines).to.have.length(1);
  });

  it('passes on what is no call', async () => {
    expect(await say('[]\n')).to.equal('[]\n');
    expect(lines).to.deep.equal(['[]']);
  });
});
