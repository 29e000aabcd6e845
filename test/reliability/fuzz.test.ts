// Throws what nobody meant to send at both interfaces of the real executable. Everything that is a
// request or a line gets exactly one answer; what was refused left no record and every record was
// answered for; nothing crashes, hangs or grows.

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import { expect } from 'chai';
import { Random } from '../simulator/random.ts';
import { mustBeCaught } from '../support/caught.ts';
import { type Fields, Place, type Server } from '../support/server.ts';
import { inTurn, isPlayed, sized } from '../support/tier.ts';
import { until } from '../support/waiting.ts';
import { type HttpInput, Inputs } from './inputs.ts';
import { copyProgram, executableOf, type Patch } from './patched.ts';
import { IS_SILENT_ABOUT_SOME_REFUSALS, REFUSES_WHAT_IS_RECORDED } from './program-faults.ts';
import { roundsOf } from './rounds.ts';
import { nothingIn, verify } from './verified.ts';

const PARTS = ['by chance', 'at the edges'];
const LINES = Number(process.env['FUZZ_LINES'] ?? sized(16_000, 3_000));
const REQUESTS = Number(process.env['FUZZ_REQUESTS'] ?? sized(4_000, 800));
const CONNECTIONS = 4;
const BURST = 500;
const STATUSES = [200, 201, 400, 404, 405, 409, 413, 422, 431];
const GROWTH_MAX = 300 * 1_048_576;
const ARGS = ['--poison-threshold', '0', '--log-level', 'error', '--lease-duration-ms', '60000'];

const CONTROL_ROUNDS = 3;
const CONTROLS: Readonly<Record<string, readonly [readonly Patch[], RegExp]>> = {
  'says nothing to what it cannot read': [
    IS_SILENT_ABOUT_SOME_REFUSALS,
    /every line has its answer/,
  ],
  'refuses some of what it has recorded': [REFUSES_WHAT_IS_RECORDED, /"type":"Task/],
};

describe('fuzz', () => {
  const rounds = roundsOf('fuzz', 1, 30_000 + (LINES + REQUESTS) * 10);
  let place: Place;
  beforeEach(async () => {
    place = await Place.open();
  });
  afterEach(() => place.close());

  if (isPlayed('by chance', PARTS)) {
    it(`${LINES} lines and ${REQUESTS} requests: only what was answered is there`, async () => {
      await rounds.run(async (seed) => {
        const server = await place.serve({ args: ARGS }).ready();
        const before = residentBytes(server);
        const inputs = new Inputs(seed);
        const told = new Told();
        await throwLines(place, inputs, new Random(seed, 'bursts'), told, LINES);
        await throwRequests(place, inputs, told, REQUESTS);
        expect(told.accepted, 'some were right').to.be.greaterThan(LINES / 10);
        expect(told.refused, 'some were wrong').to.be.greaterThan(LINES / 4);
        expect(differences(told, await server.records())).to.deep.equal([]);
        expect(residentBytes(server) - before).to.be.below(GROWTH_MAX);
        expect(await server.stop()).to.deep.equal({ code: 0, signal: null });
        expect((await verify(place.dataDir)).records).to.be.greaterThan(1);
        await place.close();
        place = await Place.open();
      });
    }).timeout(rounds.timeoutMs);
  }

  for (const [name, [patches, words]] of inTurn(Object.entries(CONTROLS))) {
    it(`control: a program that ${name} is caught`, async () => {
      const executable = executableOf(copyProgram(path.join(place.dir, 'program'), patches));
      const server = await place.serve({ args: ARGS, executable }).ready();
      const told = new Told();
      await mustBeCaught(words, CONTROL_ROUNDS, async (seed) => {
        await throwLines(place, new Inputs(seed), new Random(seed, 'bursts'), told, 2_000, 3_000);
        nothingIn(differences(told, await server.records()));
      });
    }).timeout(300_000);
  }

  if (isPlayed('at the edges', PARTS)) {
    it('goes on after depth, length, a silent peer, and bytes that are no HTTP', async () => {
      const server = await place.serve({ args: ARGS }).ready();
      const before = residentBytes(server);
      const talk = new Talk(place.socketPort);
      for (const depth of [3_500, 5_000_000]) {
        talk.send(Buffer.from('['.repeat(depth)));
        talk.send(Buffer.from(`{"jsonrpc":"2.0","id":1,"params":${'{"a":'.repeat(depth)}`));
      }
      talk.send(Buffer.from(`{"jsonrpc":"2.0","id":1,"method":"${'x'.repeat(8_000_000)}"}`));
      await until('all are answered', () => talk.lines.length === 5);
      for (const line of talk.lines) expect(line).to.include('"error"');
      const deaf = connect(place.socketPort, '127.0.0.1').pause();
      const call = Buffer.from('{"jsonrpc":"2.0","id":1,"method":"stats"}\n'.repeat(2_000));
      for (let left = 25; left > 0; left -= 1) deaf.write(call);
      const dice = new Random(1, 'no HTTP');
      for (let left = 200; left > 0; left -= 1) expect(await noHttp(place, dice)).to.equal(true);
      talk.send(Buffer.from('{"jsonrpc":"2.0","id":7,"method":"submit","params":{"payload":"p"}}'));
      await until('others are served', () => talk.lines.length === 6);
      expect(talk.lines[5]).to.match(/^\{"jsonrpc":"2.0","id":7,"result":\{"task_id":"T\d+"/);
      expect(residentBytes(server) - before).to.be.below(GROWTH_MAX);
      deaf.destroy();
      talk.socket.destroy();
      expect(await server.stop()).to.deep.equal({ code: 0, signal: null });
    }).timeout(180_000);
  }
});

/** What was answered, as far as it can be held against the log. */
class Told {
  readonly records = new Set<number>();
  accepted = 0;
  refused = 0;

  take(answer: Fields): void {
    for (const { lease_id: id } of (answer['leases'] ?? []) as Fields[]) {
      this.records.add(Number(String(id).slice(1)));
    }
    if (typeof answer['record'] === 'number') this.records.add(answer['record']);
    const isRefused = 'error' in answer || answer['outcome'] === 'REJECTED';
    if (isRefused) this.refused += 1;
    else this.accepted += 1;
  }
}

const OWN = new Set(['CoordinatorStarted', 'HistoryForgotten', 'LeaseExpired']);

/** Records that nobody was told of, and answers without their record. */
function differences({ records }: Told, log: readonly Fields[]): string[] {
  const caused = log.filter(({ type }) => !OWN.has(String(type)));
  const seqs = new Set(caused.map(({ seq }) => seq as number));
  return [
    ...caused.filter(({ seq }) => !records.has(seq as number)).map((one) => JSON.stringify(one)),
    ...[...records].filter((seq) => !seqs.has(seq)).map((seq) => `record ${seq} is missing`),
  ];
}

class Talk {
  readonly socket: Socket;
  readonly lines: string[] = [];
  sent = 0;
  #rest = '';

  constructor(port: number) {
    this.socket = connect(port, '127.0.0.1').setEncoding('utf8');
    this.socket.on('error', () => {});
    this.socket.on('data', (text: string) => {
      const lines = (this.#rest + text).split('\n');
      this.#rest = lines.pop() as string;
      this.lines.push(...lines);
    });
  }

  send(line: Buffer): void {
    this.sent += 1;
    this.socket.write(line);
    this.socket.write('\n');
  }
}

/** Bursts of lines on a few connections, cut into pieces anywhere; every line is one answer. */
async function throwLines(
  { socketPort }: Place,
  inputs: Inputs,
  dice: Random,
  told: Told,
  count: number,
  patienceMs = 30_000,
): Promise<void> {
  const talks = Array.from({ length: CONNECTIONS }, () => new Talk(socketPort));
  const first = Buffer.from('{"jsonrpc":"2.0","id":0,"method":"stats"}\n');
  for (const talk of talks) talk.socket.write(first);
  try {
    for (let left = count; left > 0; left -= BURST) {
      const talk = dice.pick(talks);
      const lines = Array.from({ length: Math.min(left, BURST) }, () => inputs.line());
      const bytes = Buffer.concat(lines.flatMap((line) => [line, Buffer.of(10)]));
      for (let at = 0; at < bytes.length; ) {
        const end = at + (dice.chance(0.1) ? 1 : dice.between(1, 40_000));
        talk.socket.write(bytes.subarray(at, end));
        at = end;
      }
      talk.sent += lines.length;
      const all = () => talk.lines.length > talk.sent || talk.socket.destroyed;
      await until('every line has its answer', all, patienceMs);
      expect(talk.socket.destroyed, 'the connection stands').to.equal(false);
      for (const line of talk.lines.splice(1)) takeLine(told, line);
      talk.sent = 0;
      inputs.greatest = Math.max(inputs.greatest, ...told.records);
    }
    for (const { lines } of talks) expect(lines, 'nothing was answered twice').to.have.length(1);
  } finally {
    for (const { socket } of talks) socket.destroy();
  }
}

function takeLine(told: Told, line: string): void {
  const parsed = JSON.parse(line) as Fields | Fields[];
  for (const answer of Array.isArray(parsed) ? parsed : [parsed]) {
    expect(answer['jsonrpc']).to.equal('2.0');
    const { error, result } = answer as { error?: Fields; result?: Fields };
    if (error !== undefined) expect(error['code']).to.be.within(-32_700, -32_600);
    told.take(result ?? answer);
  }
}

async function throwRequests(place: Place, inputs: Inputs, told: Told, count: number) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 8 });
  const hands = Array.from({ length: 8 }, async (_, hand) => {
    for (let left = Math.floor(count / 8) + (hand === 0 ? count % 8 : 0); left > 0; left -= 1) {
      const input = inputs.http();
      const { status, text } = await send(place, agent, input);
      const { method, path: target, body: bytes } = input;
      const what = `${method} ${target.slice(0, 200)} ${bytes.toString('latin1', 0, 500)}: ${text}`;
      expect(status, what).to.be.oneOf(STATUSES);
      if (input.path.startsWith('/v1/log') || text === '') continue;
      const body = JSON.parse(text) as Fields;
      for (const answer of (body['answers'] ?? [body]) as Fields[]) told.take(answer);
    }
  });
  await Promise.all(hands);
  agent.destroy();
}

function send(
  { httpPort: port }: Place,
  agent: http.Agent,
  { method, path: target, headers, body }: HttpInput,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, method, path: target, headers, agent };
    const request = http.request(options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    request.on('error', reject);
    request.end(method === 'GET' ? undefined : body);
  });
}

/** @returns whether the connection was answered in HTTP, or closed. */
async function noHttp({ httpPort }: Place, dice: Random): Promise<boolean> {
  const pieces = [
    'GET / HTTP/1.1\r\n',
    'POST ',
    '\0\xff',
    'host: a\r\n',
    '\r\n',
    'content-length: -1',
  ];
  const socket = connect(httpPort, '127.0.0.1').setEncoding('latin1');
  socket.on('error', () => {});
  let text = '';
  socket.on('data', (chunk: string) => {
    text += chunk;
  });
  const bytes = Array.from({ length: dice.between(1, 6) }, () => dice.pick(pieces)).join('');
  socket.end(bytes, 'latin1');
  await once(socket, 'close');
  return text === '' || /^HTTP\/1\.1 \d\d\d /.test(text);
}

function residentBytes({ pid }: Server): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1_024;
}
