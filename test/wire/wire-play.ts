// Owns the language of the wire's transcripts: requests as bytes, played on a server in memory with
// a clock that moves only when told, and the answers as they arrive.
//
//   GET /v1/tasks/T2 · POST /v1/tasks {"payload":"p"}    a request over HTTP, and its body
//   with name: value           a header of the next request
//   > {"id":1,"method":"stats"}   a line on the socket
//   & …                        a request whose answer nobody waits for, sent before what follows
//   answers                    all of those answers
//   at 9999                    coordinator time, in ms since the beginning
//   tick                       the timer comes round
//   disk failed | lost answer  what becomes of the next commit
//   phase recovering           what the ingresses believe of the coordinator
//   cluster {…}                what the node knows of its cluster
//   sleep · fill · wake        the coordinator takes nothing; requests fill the mailbox; it goes on

import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Phase } from '../../actors/shared/progress.ts';
import type { Outcome } from '../../src/log/memory-log.ts';
import type { ClusterView } from '../../src/model/cluster-view.ts';
import { openApi } from '../../src/protocol/openapi.ts';
import { encodeRequest } from '../../src/protocol/request-codec.ts';
import { MemoryServer, type MemoryServerOptions, VERSION } from '../support/memory-server.ts';

/** Of no interest, or another one each time. */
const UNTOLD = new Set(['date', 'connection', 'keep-alive', 'content-length', 'transfer-encoding']);

export class Wire {
  readonly #server: MemoryServer;
  readonly #line: Line;
  /** Answers to requests that nobody waits for, in the order of the requests. */
  #later: Promise<readonly string[]>[] = [];
  #headers: Record<string, string> = {};

  private constructor(server: MemoryServer) {
    this.#server = server;
    this.#line = new Line(server.socketAddress);
  }

  static async open(options?: MemoryServerOptions): Promise<Wire> {
    return new Wire(await MemoryServer.start(options));
  }

  async close(): Promise<void> {
    this.#line.close();
    await this.#server.stop();
  }

  /** @returns what there is to see, a line each. */
  async play(line: string): Promise<string[]> {
    const isLater = line.startsWith('& ');
    const command = isLater ? line.slice(2) : line;
    if (/^[A-Z]+ \//.test(command)) return this.#http(command, isLater);
    if (command.startsWith('> ')) return this.#socket(command.slice(2), isLater);
    const [, word = '', rest = ''] = /^(\S+) ?(.*)$/.exec(command) ?? [];
    if (word === 'answers') return (await Promise.all(this.#later.splice(0))).flat();
    await this.#act(word, rest);
    return [];
  }

  async #act(word: string, rest: string): Promise<void> {
    const { world, progress } = this.#server;
    if (word === 'with') this.#headers[rest.split(': ')[0] as string] = rest.split(': ')[1] ?? '';
    else if (word === 'at') world.time = Number(rest);
    else if (word === 'tick') await world.tick();
    else if (word === 'disk') world.log.plan(rest as Outcome);
    else if (word === 'phase') progress.phase = rest as Phase;
    else if (word === 'cluster') progress.cluster.write(JSON.parse(rest) as ClusterView);
    else if (word === 'sleep') this.#server.sleeps = true;
    else if (word === 'wake') await this.#server.wake();
    else if (word === 'fill') this.#fill();
    else throw new Error(`no such command: ${word}`);
  }

  #fill(): void {
    const producer = this.#server.connectProducer();
    let ticket = 1;
    while (producer.offer(ticket, 'request', encodeRequest({ op: 'stats' }), ticket)) ticket += 1;
  }

  async #http(command: string, isLater: boolean): Promise<string[]> {
    const [, method = '', path = '', body = ''] = /^(\S+) (\S+) ?(.*)$/.exec(command) ?? [];
    const answer = ask(this.#server.url, method, path, this.#headers, body);
    this.#headers = {};
    if (!isLater) return answer;
    await this.#arrives(answer);
    this.#later.push(answer.then((lines) => [`answer to ${method} ${path}:`, ...lines]));
    return [];
  }

  async #socket(line: string, isLater: boolean): Promise<string[]> {
    const answer = this.#line.ask(line);
    if (!isLater) return [await answer];
    await this.#arrives(answer);
    this.#later.push(answer.then((text) => [`answer to ${line}:`, text]));
    return [];
  }

  /** Until the request is in the server, or answered. */
  async #arrives(answer: Promise<unknown>): Promise<void> {
    const before = this.#server.arrived;
    const request = { isAnswered: false };
    void answer.finally(() => {
      request.isAnswered = true;
    });
    while (!request.isAnswered && this.#server.arrived === before) await turn();
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** @returns what an answer to this line, or a line that is one, is known by. */
function idOf(line: string): unknown {
  try {
    const { id } = JSON.parse(line) as { id?: unknown };
    return typeof id === 'object' ? undefined : id;
  } catch {
    return undefined;
  }
}

/** The socket's connection; it is opened again when it was closed. */
class Line {
  readonly #address: string;
  readonly #open: { readonly id: unknown; answer(line: string): void }[] = [];
  #socket: Socket | undefined;

  constructor(address: string) {
    this.#address = address;
  }

  /** @returns the line with the same id, or else the next one that has none. */
  ask(line: string): Promise<string> {
    return new Promise((answer) => {
      this.#open.push({ id: idOf(line), answer });
      this.#socket ??= this.#connect();
      this.#socket.write(`${line}\n`);
    });
  }

  close(): void {
    this.#socket?.destroy();
  }

  #take(line: string): void {
    const id = idOf(line);
    const same = this.#open.findIndex((asked) => asked.id === id);
    const [asked] = this.#open.splice(Math.max(same, 0), 1);
    if (asked === undefined) throw new Error(`nobody asked for this: ${line}`);
    asked.answer(line);
  }

  #connect(): Socket {
    const [host, port] = this.#address.split(':');
    const socket = connect(Number(port), host);
    let rest = '';
    socket.setEncoding('utf8');
    socket.on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) this.#take(line);
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#socket = undefined;
      for (const { answer } of this.#open.splice(0)) answer('(the connection is closed)');
    });
    return socket;
  }
}

function ask(
  url: string,
  method: string,
  path: string,
  headers: Record<string, string>,
  body: string,
): Promise<string[]> {
  const { hostname: host, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const options = { host, port, method, path, headers, agent: false };
    const request = httpRequest(options, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
      });
      response.once('error', reject);
      response.once('end', () => {
        const { statusCode, headers: told } = response;
        resolve([`${statusCode}`, ...headersOf(told), ...bodyOf(path, text)]);
      });
    });
    request.once('error', reject);
    request.end(body === '' ? undefined : body);
  });
}

const headersOf = (headers: IncomingHttpHeaders): string[] =>
  Object.entries(headers)
    .filter(([name]) => !UNTOLD.has(name))
    .map(([name, value]) => `${name}: ${String(value)}`)
    .toSorted();

function bodyOf(path: string, text: string): string[] {
  if (text === '') return [];
  if (path === '/openapi.json' && text === `${JSON.stringify(openApi(VERSION))}\n`) {
    return ['(the document in test/golden/openapi.json)'];
  }
  if (path !== '/metrics') return [text.replace(/\n$/, '')];
  // Figures differ each time; their names are what the product promises.
  const lines = text.split('\n').filter((line) => line.startsWith('# TYPE leasehold_'));
  return lines.toSorted();
}
