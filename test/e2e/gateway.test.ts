// The command line through a proxy that answers in the server's place, or cuts connections after
// it has handed a request on: nothing is done twice, and what was done is told.

import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { EXECUTABLE, Process } from '../../src/play/demo/processes.ts';
import { command, type Ran } from '../support/command.ts';
import { cleanEnv, type Fields } from '../support/server.ts';
import { Stage } from './support.ts';

/** What the proxy does with a request: hands it on, or makes an answer of its own after that. */
type Treatment = 'pass' | 'cut' | 502 | 503 | 504;

class Gateway {
  readonly #server: http.Server;
  troubles = 0;
  /** A request that is not answered within this is given up with 504. */
  patienceMs = Number.POSITIVE_INFINITY;

  constructor(toPort: number, treat: (path: string, nth: number) => Treatment) {
    const nths = new Map<string, number>();
    this.#server = http.createServer((request, response) => {
      const { url: path = '', method, headers } = request;
      const route = path.split('?')[0] as string;
      nths.set(route, (nths.get(route) ?? 0) + 1);
      const treatment = treat(route, nths.get(route) as number);
      const upstream = http.request({ port: toPort, path, method, headers }, (answer) => {
        if (response.writableEnded) return answer.resume();
        if (treatment === 'pass') {
          response.writeHead(answer.statusCode ?? 0, answer.headers);
          return answer.pipe(response);
        }
        // The server has decided; its answer is lost.
        answer.resume().on('end', () => this.#spoil(response, treatment));
        return undefined;
      });
      upstream.on('error', () => response.destroy());
      if (this.patienceMs < Number.POSITIVE_INFINITY) {
        const late = setTimeout(() => {
          this.#spoil(response, 504);
          upstream.destroy();
        }, this.patienceMs);
        response.once('close', () => clearTimeout(late));
      }
      request.pipe(upstream);
    });
  }

  #spoil(response: http.ServerResponse, treatment: Exclude<Treatment, 'pass'>): void {
    if (response.headersSent) return;
    this.troubles += 1;
    if (treatment === 'cut') response.destroy();
    else response.writeHead(treatment, { 'content-type': 'text/html' }).end('<h1>Gateway</h1>');
  }

  async open(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

describe('the command line behind a proxy', () => {
  let stage: Stage;
  let gateway: Gateway | undefined;
  before(async () => {
    stage = await Stage.open();
    await stage.serve(['--backoff-ms', '0', '--batch-max-bytes', '20000']).ready();
  });
  afterEach(() => gateway?.close());
  after(() => stage.close());

  const through = async (treat: (path: string, nth: number) => Treatment): Promise<string> => {
    gateway = new Gateway(stage.port, treat);
    return gateway.open();
  };
  const run = (url: string, args: string[], stdin = ''): Promise<Ran> =>
    command([...args, '--url', url], { stdin });
  const count = async (queue: string): Promise<number> =>
    ((await stage.call('GET', `/v1/tasks?queue=${queue}&limit=1000`)).body['tasks'] as []).length;

  async function troubles(atLeast: number): Promise<void> {
    for (const at = gateway as Gateway; at.troubles < atLeast; ) await pause(10);
  }

  for (const trouble of ['cut', 502, 503, 504] as const) {
    it(`sends again what got ${trouble} for an answer, and does nothing twice`, async () => {
      const url = await through((_, nth) => (nth === 1 ? trouble : 'pass'));
      const queue = `once-${trouble}`;
      const submitted = await run(url, ['submit', 'x', '--queue', queue]);
      expect(submitted.code, submitted.err).equal(0);
      expect(submitted.out).match(
        /^T\d+ WAITING in queue .*, record \d+\n$|^T\d+ .*, no record\n$/,
      );
      expect(await count(queue)).equal(1);
      const task = /T\d+/.exec(submitted.out)?.[0] as string;
      const [lease] = (await stage.call('POST', '/v1/leases', { worker_id: 'w', queues: [queue] }))
        .body['leases'] as Fields[];
      const completed = await run(url, ['complete', String(lease?.['lease_id'])]);
      expect([completed.code, completed.out.slice(0, 9)], completed.err).deep.equal([
        0,
        'COMMITTED',
      ]);
      for (const args of [['task', task], ['explain', task], ['stats'], ['log', '--task', task]]) {
        const { code, err } = await run(url, args);
        expect(code, `${args.join(' ')}: ${err}`).equal(0);
      }
      expect(gateway?.troubles, 'the proxy did spoil answers').above(4);
    });
  }

  it('gives up in the end, with the request id that makes a repetition harmless', async () => {
    const url = await through((path) => (path === '/v1/tasks' ? 502 : 'pass'));
    const ran = await run(url, ['submit', 'x', '--queue', 'given-up', '--timeout', '1s']);
    expect(ran.code).equal(3);
    const id = /--request-id (\S+):/.exec(ran.err)?.[1] as string;
    const again = await run(stage.url, ['submit', 'x', '--queue', 'given-up', '--request-id', id]);
    expect(again.out).include('(submitted before)');
    expect(await count('given-up')).equal(1);
  });

  it('waits for a task although each long poll is given up on the way', async () => {
    const url = await through(() => 'pass');
    (gateway as Gateway).patienceMs = 300;
    const env = cleanEnv();
    const args = [EXECUTABLE, 'submit', 'x', '--queue', 'waited', '--wait', '--url', url];
    const waiting = stage.track(new Process(args, env), () => {});
    await troubles(2);
    // Its submit may have been given up on the way, too, and come later.
    const asked = { worker_id: 'w', queues: ['waited'], wait_ms: 60_000 };
    const { leases } = (await stage.call('POST', '/v1/leases', asked)).body;
    const { lease_id, task_id } = (leases as Fields[])[0] as Fields;
    await stage.call('POST', `/v1/leases/${lease_id}/complete`, { task_id });
    expect((await waiting.ended).code, waiting.err).equal(0);
  });

  it('waits for a lease although each long poll is given up on the way', async () => {
    const url = await through(() => 'pass');
    (gateway as Gateway).patienceMs = 300;
    // A grant that is given up on the way comes again when its lease of 30 s is over.
    const args = ['lease', '--worker', 'w', '--queue', 'later', '--wait', '60s', '--url', url];
    const waiting = stage.track(new Process([EXECUTABLE, ...args], cleanEnv()), () => {});
    await troubles(2);
    const task = (await stage.submit({ queue: 'later' })).body['task_id'];
    expect((await waiting.ended).code, waiting.err).equal(0);
    expect(waiting.out).include(String(task));
  });

  it('submits each line once, whichever answers are lost', async () => {
    const url = await through((path, nth) =>
      path === '/v1/batch' && nth % 2 === 1 ? 'cut' : 'pass',
    );
    const text = Array.from({ length: 700 }, (_, i) => `line ${i}\n`).join('');
    const ran = await run(url, ['submit', '--lines', '--queue', 'lines'], text);
    expect(ran.code, ran.err).equal(0);
    expect(await count('lines')).equal(700);
  });

  it('tells which lines are submitted when it has to give up, and goes on from there', async () => {
    let isBroken = false;
    const url = await through((path, nth) => {
      if (path === '/v1/batch' && nth > 2) isBroken = true;
      return isBroken ? 502 : 'pass';
    });
    const text = Array.from({ length: 900 }, (_, i) => `line ${i}\n`).join('');
    const args = ['submit', '--lines', '--queue', 'resumed', '--timeout', '5s'];
    const ran = await run(url, args, text);
    expect(ran.code).equal(3);
    const [, stored, last] = /(\d+) lines are submitted \(lines 1–(\d+)\)/.exec(ran.err) ?? [];
    expect(stored, ran.err).equal(last);
    expect(ran.err).match(RegExp(`lines ${Number(last) + 1}–\\d+ it is not known`));
    const prefix = /--request-id-prefix (\S+)/.exec(ran.err)?.[1] as string;
    const again = ['submit', '--lines', '--queue', 'resumed', '--request-id-prefix', prefix];
    expect((await run(stage.url, again, text)).code).equal(0);
    expect(await count('resumed')).equal(900);
  });

  it('names the refused line, and which others are submitted', async () => {
    const long = 'x'.repeat(2_000_000);
    const lines = Array.from({ length: 30 }, (_, i) => (i === 10 ? long : `line ${i}`));
    const args = ['submit', '--lines', '--queue', 'refused', '--request-id-prefix', 'r'];
    const ran = await run(stage.url, args, lines.join('\n'));
    expect(ran.code).equal(1);
    expect(ran.err).match(/^line 11: REJECTED too_large: /);
    const stored = await count('refused');
    expect(ran.err).include(`${stored} lines are submitted`).and.include('--request-id-prefix r');
    lines[10] = 'short now';
    expect((await run(stage.url, args, lines.join('\n'))).code).equal(0);
    expect(await count('refused')).equal(30);
    const refused = await run(stage.url, [...args, '--json'], `${long}\n`);
    expect(JSON.parse(refused.err)).include({ reason: 'too_large', line: 1, submitted: 0 });
  });

  it('keeps its batches within the bound of the server, whatever lines grow to', async () => {
    // Each byte of these is six bytes of JSON, or base64.
    const control = Array.from({ length: 40 }, () => '\u0001'.repeat(1_500));
    const text = [...control, '\u0001'.repeat(5_000)].join('\n');
    const ran = await run(stage.url, ['submit', '--lines', '--queue', 'grown', '--json'], text);
    expect(ran.code, ran.err).equal(0);
    expect(await count('grown')).equal(41);
  });
});
