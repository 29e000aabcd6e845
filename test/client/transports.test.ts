// The ways to a server: TLS with an authority of one's own, proxies that answer in its place, hosts
// with two addresses, and times that no timer holds.

import { execFile, execFileSync } from 'node:child_process';
import dns from 'node:dns';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import {
  createServer,
  request as httpRequest,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { HttpTransport } from '../../src/client/http-transport.ts';
import { after as afterMs } from '../../src/client/local-clock.ts';
import { Client, type LeaseholdError } from '../../src/index.ts';
import { skip } from '../support/skip.ts';
import { until } from '../support/waiting.ts';
import { MAIN, sharedServer } from './real-server.ts';
import { type ScriptedServer, scriptedServer } from './scripted-server.ts';

const execute = promisify(execFile);
/** Less than the minute for which a request may wait: who waits for its end has seen nothing. */
const WITHIN_MS = 50_000;
const LIBRARY = new URL('../../src/index.js', import.meta.url).href;

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

const caught = (promise: Promise<unknown>): Promise<LeaseholdError> =>
  promise.then(
    () => Promise.reject(new Error('it did not reject')),
    (error: LeaseholdError) => error,
  );

/** Passes everything on, or answers with a status in the server's place. */
const passOn =
  (target: string, statuses: number[]): RequestListener =>
  (request, response) => {
    const { method = 'GET', headers, url = '/' } = request;
    const status = statuses.shift();
    const onward = httpRequest(target + url, { method, headers }, (answer) => {
      if (status === undefined) {
        response.writeHead(answer.statusCode ?? 0, answer.headers);
        answer.pipe(response);
      } else {
        answer.resume();
        response.writeHead(status, { 'content-type': 'text/html' }).end('<h1>Gateway</h1>');
      }
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  };

describe('transports', () => {
  it('over HTTP keep no connection over which nothing is asked', async () => {
    let [open, most] = [0, 0];
    const asked: ServerResponse[] = [];
    const server = createServer((_, response) => {
      asked.push(response);
      // No connection is free before all are asked over, however busy the machine is.
      if (asked.length >= 10) setTimeout(() => asked.forEach((one) => one.end('{}')), 50);
    });
    server.keepAliveTimeout = 0;
    server.on('connection', (socket) => {
      open += 1;
      most = Math.max(most, open);
      socket.once('close', () => {
        open -= 1;
      });
    });
    const url = new URL(`http://127.0.0.1:${await listening(server)}`);
    const transport = new HttpTransport(url, undefined, 20);
    const ask = () => transport.send({ op: 'stats', params: {} }, { timeoutMs: 60_000 });
    // Each answer takes longer than the time after which a connection that rests is closed.
    await Promise.all(Array.from({ length: 10 }, ask));
    expect(most).to.equal(10);
    await until('they are closed', () => open === 0);
    await ask();
    transport.close();
    server.close();
  });

  describe('behind a proxy', () => {
    let scripted: ScriptedServer;
    let proxy: Server;
    let client: Client;
    const statuses: number[] = [];
    before(async () => {
      scripted = await scriptedServer('http', () => ({ outcome: 'COMMITTED', task_id: 'T2' }));
      proxy = createServer(passOn(scripted.url, statuses));
      const url = `http://127.0.0.1:${await listening(proxy)}`;
      client = new Client({ url, backoffMs: 1, retries: 3 });
    });
    beforeEach(() => {
      scripted.asked.length = 0;
      statuses.length = 0;
    });
    after(async () => {
      client.close();
      proxy.close();
      await scripted.close();
    });
    const asked = (): string[] => scripted.asked.map(({ op }) => op);

    for (const status of [502, 503, 504]) {
      it(`sends again what was answered ${status} in the server's place`, async () => {
        statuses.push(status, status);
        await client.submit({ payload: 'x' });
        expect(asked()).to.deep.equal(['submit', 'submit', 'submit']);
        expect(new Set(scripted.asked.map(({ params }) => params.request_id)).size).to.equal(1);
      });
    }

    it('does not repeat what may have happened and must not happen twice', async () => {
      statuses.push(504);
      const error = await caught(client.lease({ workerId: 'w' }));
      expect(error).to.include({ code: 'UNREACHABLE' });
      expect(asked()).to.deep.equal(['lease']);
    });

    it('says of a report that stays unanswered that it may have arrived', async () => {
      statuses.push(502, 502, 502, 502);
      const error = await caught(client.complete({ taskId: 'T2', leaseId: 'L3' }));
      expect(error).to.include({ code: 'REPORT_UNANSWERED' });
    });
  });

  describe('to several servers', () => {
    const NAMES = ['a', 'b', 'c'] as const;
    let servers: ScriptedServer[];
    let client: Client;
    beforeEach(async () => {
      const answer = (name: string) => () => ({ task_id: 'T2', queue: name });
      servers = await Promise.all(NAMES.map((name) => scriptedServer('tcp', answer(name))));
      const url = servers.map((server) => server.url);
      client = new Client({ url, backoffMs: 1, retries: 3 });
    });
    afterEach(async () => {
      client.close();
      await Promise.all(servers.map((server) => server.close()));
    });
    const asked = async (): Promise<string> => (await client.submit({ payload: 'x' })).queue;
    const at = (index: number): ScriptedServer => servers[index] as ScriptedServer;

    it('stays with one, and goes to the next when that does not answer', async () => {
      expect([await asked(), await asked()]).to.deep.equal(['a', 'a']);
      at(0).script = () => 'cut';
      expect([await asked(), await asked()]).to.deep.equal(['b', 'b']);
      at(1).script = () => 'cut';
      at(2).script = () => 'cut';
      at(0).script = () => ({ task_id: 'T2', queue: 'a again' });
      expect(await asked()).to.equal('a again');
    });

    it('goes to the one that leads, and asks on where none is named', async () => {
      const notLeader = { outcome: 'UNAVAILABLE', reason: 'not_leader', record: null };
      at(0).script = () => ({ ...notLeader, leader: at(2).url });
      expect(await asked()).to.equal('c');
      expect(at(1).asked).to.deep.equal([]);
      at(2).script = () => ({ ...notLeader, leader: 'http://elsewhere:1' });
      at(0).script = () => notLeader;
      expect(await asked()).to.equal('b');
    });

    it('leaves one that is silent while another one says that it leads', async () => {
      at(0).script = () => 'hang';
      at(1).script = (op) => (op === 'cluster' ? { role: 'follower' } : 'hang');
      at(2).script = (op) =>
        op === 'cluster' ? { role: 'leader' } : { task_id: 'T2', queue: 'c' };
      const lease = client.lease({ workerId: 'w', waitMs: 60_000 }).catch((error: Error) => error);
      expect(await asked()).to.equal('c');
      // The wait is over, too; a lease request is not sent twice.
      expect(await lease)
        .to.have.property('message')
        .that.includes('does not answer');
      expect(at(2).asked.map(({ op }) => op)).not.to.include('lease');
    }).timeout(WITHIN_MS);

    it('stays with one that lets a request wait, and says that it lives', async () => {
      at(0).script = (op) =>
        op === 'cluster'
          ? { role: 'leader' }
          : new Promise((answer) => setTimeout(answer, 3_500, { task_id: 'T2', queue: 'a' }));
      at(2).script = (op) =>
        op === 'cluster' ? { role: 'leader' } : { task_id: 'T2', queue: 'c' };
      expect(await asked()).to.equal('a');
      expect(at(0).asked.filter(({ op }) => op === 'cluster').length).to.be.within(1, 3);
      expect(at(2).asked).to.deep.equal([]);
    }).timeout(WITHIN_MS);

    it('does not change twice when many requests fail at a time', async () => {
      at(0).script = () => 'cut';
      const all = await Promise.all([asked(), asked(), asked()]);
      expect(all).to.deep.equal(['b', 'b', 'b']);
      expect(at(2).asked).to.deep.equal([]);
    });
  });

  describe('to a host with two addresses', () => {
    const { lookup } = dns;
    before(() => {
      const both = [
        { address: '127.0.0.1', family: 4 },
        { address: '127.0.0.2', family: 4 },
      ];
      dns.lookup = ((_: string, __: object, done: (...args: unknown[]) => void) =>
        done(null, both)) as unknown as typeof dns.lookup;
    });
    after(() => {
      dns.lookup = lookup;
    });

    for (const url of ['http://two.test:1', 'tcp://two.test:1']) {
      it(`says of each why it is not reached: ${url}`, async () => {
        const client = new Client({ url, retries: 0 });
        const error = await caught(client.stats());
        client.close();
        expect(error.message).to.contain('ECONNREFUSED 127.0.0.1:1');
        expect(error.message).to.contain('ECONNREFUSED 127.0.0.2:1');
      });
    }
  });

  describe('with a real server', () => {
    const server = sharedServer();
    const dir = mkdtempSync(join(tmpdir(), 'leasehold-tls-'));
    after(() => rmSync(dir, { recursive: true }));

    /** Runs a program in JavaScript that is given as text: its flags must not reach our threads. */
    const program = (text: string, environment: NodeJS.ProcessEnv = {}) => {
      const source = `import { Client, Worker } from ${JSON.stringify(LIBRARY)};\n${text}`;
      const env = { ...process.env, ...environment };
      return execute(process.execPath, ['--input-type=module', '-e', source], { env });
    };

    it('works from a program that is given as text, in threads too', async () => {
      const handler = 'data:text/javascript,export default (task) => task.text() + task.text()';
      const { stdout, stderr } = await program(`
        const url = ${JSON.stringify(server.http)};
        const client = new Client({ url });
        const { taskId } = await client.submit({ queue: 'text', payload: 'x' });
        const handler = new URL(${JSON.stringify(handler)});
        await new Worker({ url, queues: ['text'], handler }).run({ untilEmpty: true });
        console.log(String((await client.task(taskId)).result));
        client.close();`);
      expect([stdout, stderr]).to.deep.equal(['xx\n', '']);
    });

    it('says at the wrong port which one is right', async () => {
      const said = async (url: string): Promise<string> => {
        const client = new Client({ url });
        const { code, message } = await caught(client.stats());
        client.close();
        expect(code).to.equal('PROTOCOL');
        return message;
      };
      const atSocket = await said(server.tcp.replace('tcp:', 'http:'));
      expect(atSocket)
        .to.match(/port for tcp:.* HTTP is spoken at/)
        .and.include(server.http);
      const atHttp = await said(server.http.replace('http:', 'tcp:'));
      expect(atHttp).to.include('this port speaks HTTP');
    });

    it('warns of no leak, however many wait', async () => {
      const { stderr } = await program(
        `
        const { signal } = new AbortController();
        const clients = Array.from({ length: 15 }, () => new Client({ url: process.env.URL }));
        await Promise.all(clients.flatMap((client) => [
          client.lease({ workerId: 'w', queues: ['none'], waitMs: 50 }, { signal }),
          client.submit({ queue: 'leak', payload: 'x' }, { signal }),
        ]));
        for (const client of clients) client.close();
        const away = new Client({ url: 'http://127.0.0.1:1', retries: 1, backoffMs: 1 });
        await Promise.allSettled(Array.from({ length: 15 }, () => away.stats({ signal })));
        away.close();`,
        { URL: server.tcp },
      );
      expect(stderr).to.equal('');
    });

    it('takes times without end', async () => {
      const endless = { timeoutMs: Infinity, backoffMaxMs: Infinity, retries: Infinity };
      const client = new Client({ url: server.http, ...endless });
      expect(await client.lease({ workerId: 'w', queues: ['none'], waitMs: 20 })).to.deep.include({
        leases: [],
      });
      expect((await client.stats({ timeoutMs: 2 ** 40 })).now).to.be.a('number');
      client.close();
    });

    it('speaks TLS with an authority that is named to it, and with no other', async function () {
      const [key, cert] = [join(dir, 'key.pem'), join(dir, 'cert.pem')];
      const named = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'];
      try {
        const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2'];
        execFileSync('openssl', [...made, '-keyout', key, '-out', cert, ...named], {
          stdio: 'ignore',
        });
      } catch {
        skip(this, 'openssl is not installed');
      }
      const identity = { key: readFileSync(key), cert: readFileSync(cert) };
      const proxy = createTlsServer(identity, passOn(server.http, []));
      const url = `https://127.0.0.1:${await listening(proxy)}`;
      const run = async (args: string[], environment: NodeJS.ProcessEnv) =>
        execute(process.execPath, [MAIN, ...args], {
          env: { ...process.env, LEASEHOLD_URL: url, ...environment },
        }).catch((error: { code: number; stderr: string }) => error);
      try {
        const trusting = { NODE_EXTRA_CA_CERTS: cert };
        const client = new Client({ url: server.tcp });
        const { taskId } = await client.submit({ queue: 'tls', payload: 'quiet' });
        await run(['work', '--queue', 'tls', '--once', '--exec', 'tr a-z A-Z'], trusting);
        expect(String((await client.task(taskId)).result)).to.equal('QUIET');
        client.close();
        expect(await run(['stats'], trusting)).to.include({ stderr: '' });
        const refused = await run(['stats'], {});
        expect(refused).to.include({ code: 3 });
        expect(refused.stderr).to.contain('self-signed certificate');
      } finally {
        proxy.close();
        proxy.closeAllConnections();
      }
    });
  });

  it('survive a look that throws', async () => {
    const scripted = await scriptedServer('tcp', () => ({ task_id: 'T2' }));
    const warned = new Promise((resolve) => process.once('warning', resolve));
    const onProtocol = (): never => {
      throw new Error('looked');
    };
    const client = new Client({ url: scripted.url, onProtocol });
    expect((await client.submit({ payload: 'x' })).taskId).to.equal('T2');
    expect(String(await warned)).to.contain('looked');
    client.close();
    await scripted.close();
  });

  it('have timers that hold any time, and can be taken back', async () => {
    let ended = 0;
    const cancels = [2 ** 31, Infinity].map((ms) => afterMs(ms, () => (ended += 1)));
    await new Promise<void>((resolve) => void afterMs(5, resolve));
    expect(ended).to.equal(0);
    for (const cancel of cancels) cancel();
  });
});
