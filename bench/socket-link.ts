// Owns the cheapest client of the socket that can be written: lines out, answers back by their id.
// It shares the processors with what it measures, so it does as little as possible.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

const ID_AT = '{"jsonrpc":"2.0","id":'.length;

type Settle = (line: string) => void;

export class SocketLink {
  private readonly socket: Socket;
  private readonly open = new Map<number, Settle>();
  private rest = '';
  private lastId = 0;
  private out = '';

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.setNoDelay(true);
    socket.setEncoding('utf8');
    socket.on('data', (chunk) => this.take(chunk as unknown as string));
    socket.on('close', () => {
      for (const settle of this.open.values()) settle('closed before the answer');
    });
  }

  static async to(port: number): Promise<SocketLink> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return new SocketLink(socket);
  }

  /** @param params JSON text. @returns the answer's line. */
  call(method: string, params: string): Promise<string> {
    return new Promise((resolve) => this.send(method, params, resolve));
  }

  send(method: string, params: string, settle: Settle): void {
    this.lastId += 1;
    this.open.set(this.lastId, settle);
    if (this.out === '') process.nextTick(() => this.flush());
    this.out += `{"jsonrpc":"2.0","id":${this.lastId},"method":"${method}","params":${params}}\n`;
  }

  close(): void {
    this.socket.destroy();
  }

  private flush(): void {
    this.socket.write(this.out);
    this.out = '';
  }

  private take(chunk: string): void {
    const text = this.rest === '' ? chunk : this.rest + chunk;
    let from = 0;
    for (;;) {
      const end = text.indexOf('\n', from);
      if (end < 0) break;
      const line = text.slice(from, end);
      from = end + 1;
      const id = Number.parseInt(line.slice(ID_AT), 10);
      const settle = this.open.get(id);
      this.open.delete(id);
      settle?.(line);
    }
    this.rest = text.slice(from);
  }
}

const TASK = /"task_id":"(T\d+)"/;
const LEASE = /"lease_id":"(L\d+)"/;

/** What a lifecycle needs of a connection. */
export type Calls = Pick<SocketLink, 'call'>;

/** submit → lease → complete on one connection. @throws Error when an answer is not what it was. */
export async function lifecycle(link: Calls, worker: string, payload: string): Promise<void> {
  expectIn(await link.call('submit', `{"payload":"${payload}"}`), '"state":"WAITING"');
  const leased = await link.call('lease', `{"worker_id":"${worker}","wait_ms":5000}`);
  const [, task] = TASK.exec(leased) ?? [];
  const [, lease] = LEASE.exec(leased) ?? [];
  if (lease === undefined) throw new Error(`nothing was leased: ${leased.slice(0, 200)}`);
  const done = await link.call('complete', `{"task_id":"${task}","lease_id":"${lease}"}`);
  expectIn(done, '"outcome":"COMMITTED"');
}

export function expectIn(answer: string, part: string): void {
  if (!answer.includes(part)) throw new Error(`not ${part}: ${answer.slice(0, 300)}`);
}
