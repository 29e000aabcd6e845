// Owns what the socket's tests talk to and with: a backend that answers as a test says, and a raw
// connection that shows every line. Sockets are real.

import { connect, type Socket } from 'node:net';
import type { Asker } from '../../actors/ingress/gate.ts';
import type { SocketBackend } from '../../actors/socket/methods.ts';
import { SocketServer } from '../../actors/socket/socket-server.ts';
import type { Request, RequestOf } from '../../src/model/request.ts';
import { Answer } from '../../src/protocol/answer-frame.ts';

export interface Asked {
  readonly ticket: number;
  readonly request: Request;
  /** Answers with a JSON body, or with the text as it is. */
  answer(body: unknown): void;
}

export class FakeBackend implements SocketBackend {
  limits = { payloadMaxBytes: 1_000 };
  lineMaxBytes = 6_000;
  batchMaxBytes = 128_000;
  answersMaxBytes = 2 ** 28;
  token: string | undefined;
  /** JSON instead of a story or a page of the log. */
  story: string | undefined;
  configText = '{"payload_max_bytes":{"value":1000,"source":"default"}}';
  readonly clusterText = () => '{"role":"single"}';
  httpAddress = (): string => 'http://127.0.0.1:5327';
  readonly asked: Asked[] = [];
  readonly withdrawn: number[] = [];
  readonly hastened: number[] = [];
  /** What to do with a request: by default it is answered at once with its op. */
  onAsk: (asked: Asked) => void = ({ request, answer }) => answer({ op: request.op });
  onHasten: (ticket: number) => void = () => {};

  ask(request: Request, asker: Asker): number {
    const ticket = this.asked.length + 1;
    const answer = (body: unknown): void => {
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      asker.answered(new Answer(200, 0, Buffer.from(text)));
    };
    const asked: Asked = { ticket, request, answer };
    this.asked.push(asked);
    this.onAsk(asked);
    return ticket;
  }
  withdraw(ticket: number): void {
    this.withdrawn.push(ticket);
  }
  hasten(ticket: number): void {
    this.hastened.push(ticket);
    this.onHasten(ticket);
  }
  async explain(fields: RequestOf<'explain'>): Promise<string> {
    if (this.story !== undefined) return this.story;
    return JSON.stringify({
      task_id: `T${fields.taskId}`,
      at: fields.at,
      format: fields.format,
      story: true,
    });
  }
  async log(fields: RequestOf<'logPage'>, hurry: AbortSignal): Promise<string> {
    const ended = new Promise((resolve) => hurry.addEventListener('abort', resolve));
    if (fields.waitMs > 0 && !hurry.aborted) await ended;
    if (this.story !== undefined) return this.story;
    return JSON.stringify({ records: [], next: 1, more: false, ...fields });
  }
}

export class RawConnection {
  readonly socket: Socket;
  readonly lines: string[] = [];
  isClosed = false;
  #rest = '';
  #wake: () => void = () => {};

  constructor(address: string) {
    const [host, port] = address.split(/:(?=\d+$)/);
    this.socket = address.startsWith('/') ? connect(address) : connect(Number(port), host);
    this.socket.setEncoding('utf8');
    this.socket.on('data', (text: string) => {
      const [...lines] = (this.#rest + text).split('\n');
      this.#rest = lines.pop() ?? '';
      this.lines.push(...lines);
      this.#wake();
    });
    this.socket.on('error', () => {});
    this.socket.on('close', () => {
      this.isClosed = true;
      this.#wake();
    });
  }

  send(...messages: (object | string)[]): void {
    const lines = messages.map((each) => (typeof each === 'string' ? each : JSON.stringify(each)));
    this.socket.write(lines.map((line) => `${line}\n`).join(''));
  }

  /** The first `count` lines, parsed. Rejects when the connection closes before they are there. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into answers of any shape
  async answers(count: number): Promise<any[]> {
    await this.until(() => this.lines.length >= count || this.isClosed);
    if (this.lines.length < count) throw new Error(`closed after ${this.lines.length} lines`);
    return this.lines.slice(0, count).map((line) => JSON.parse(line));
  }

  async until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

/** Calls the hook with a fresh server and backend before each test, and closes both after it. */
export function eachWithServer(
  set: (parts: { backend: FakeBackend; address: string; server: SocketServer }) => void,
  options: { halfLineLimitMs?: number; path?: string } = {},
): { open(): RawConnection } {
  let server: SocketServer;
  let address: string;
  const opened: RawConnection[] = [];
  beforeEach(async () => {
    const backend = new FakeBackend();
    server = new SocketServer(backend, options.halfLineLimitMs);
    address = await server.listen({ host: '127.0.0.1', port: 0, path: options.path });
    set({ backend, address, server });
  });
  afterEach(async () => {
    for (const connection of opened.splice(0)) connection.socket.destroy();
    await server.close();
  });
  return {
    open() {
      const connection = new RawConnection(address);
      opened.push(connection);
      return connection;
    },
  };
}

/** Until a condition about the other side holds; the test's own time-out bounds it. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}
