// Owns the cheapest client of HTTP that can be written: one request at a time on a connection that
// stays. It shares the processors with what it measures, so it does as little as possible.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface HttpAnswer {
  readonly status: number;
  readonly body: string;
}

const LENGTH = /\r\ncontent-length: (\d+)/i;

export class HttpLink {
  private readonly port: number;
  private socket: Socket | undefined;
  private text = '';
  private settle: ((answer: HttpAnswer | Error) => void) | undefined;

  private constructor(port: number) {
    this.port = port;
  }

  static async to(port: number): Promise<HttpLink> {
    const link = new HttpLink(port);
    await link.connect();
    return link;
  }

  /** @param body JSON text of ASCII characters. */
  async post(path: string, body: string): Promise<HttpAnswer> {
    // A server closes a connection that was idle for long: that is no fault of either.
    if (this.socket?.writable !== true) await this.connect();
    this.socket?.write(
      `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n` +
        `content-length: ${body.length}\r\n\r\n${body}`,
      'latin1',
    );
    return new Promise((resolve, reject) => {
      this.settle = (answer) => (answer instanceof Error ? reject(answer) : resolve(answer));
    });
  }

  private async connect(): Promise<void> {
    const socket = connect(this.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.setNoDelay(true);
    socket.setEncoding('latin1');
    socket.on('data', (chunk) => this.take(chunk as unknown as string));
    socket.on('close', () => this.settle?.(new Error('closed before the answer')));
    this.socket = socket;
  }

  close(): void {
    this.socket?.destroy();
  }

  private take(chunk: string): void {
    this.text += chunk;
    const head = this.text.indexOf('\r\n\r\n');
    if (head < 0) return;
    const length = Number(LENGTH.exec(this.text)?.[1] ?? 0);
    const from = head + 4;
    if (this.text.length < from + length) return;
    const answer = {
      status: Number(this.text.slice(9, 12)),
      body: this.text.slice(from, from + length),
    };
    this.text = this.text.slice(from + length);
    const settle = this.settle;
    this.settle = undefined;
    settle?.(answer);
  }
}

const TASK = /"task_id":"(T\d+)"/;
const LEASE = /"lease_id":"(L\d+)"/;

/** submit → lease → complete, three requests. @throws Error when one is not done. */
export async function lifecycle(link: HttpLink, worker: string, payload: string): Promise<void> {
  const submitted = await link.post('/v1/tasks', `{"payload":"${payload}"}`);
  if (submitted.status !== 201) throw new Error(`submit: ${submitted.status} ${submitted.body}`);
  const { body } = await link.post('/v1/leases', `{"worker_id":"${worker}","wait_ms":5000}`);
  const [, task] = TASK.exec(body) ?? [];
  const [, lease] = LEASE.exec(body) ?? [];
  if (lease === undefined) throw new Error(`nothing was leased: ${body.slice(0, 200)}`);
  const done = await link.post(`/v1/leases/${lease}/complete`, `{"task_id":"${task}"}`);
  if (done.status !== 200) throw new Error(`complete: ${done.status} ${done.body}`);
}

/** 500 tasks: submitted in one batch; leased in one, then completed in one. */
export async function submitBatch(link: HttpLink, count: number, payload: string): Promise<void> {
  const one = `{"op":"submit","payload":"${payload}"}`;
  const answer = await link.post('/v1/batch', `{"requests":[${Array(count).fill(one).join()}]}`);
  const made = answer.body.split('"http_status":201').length - 1;
  if (made !== count)
    throw new Error(`${made} of ${count} submitted: ${answer.body.slice(0, 200)}`);
}

export async function leaseAndCompleteBatch(
  link: HttpLink,
  worker: string,
  count: number,
): Promise<void> {
  const { body } = await link.post('/v1/leases', `{"worker_id":"${worker}","max":${count}}`);
  const { leases } = JSON.parse(body) as { leases: { task_id: string; lease_id: string }[] };
  if (leases.length !== count) throw new Error(`${leases.length} of ${count} leased`);
  const requests = leases.map(
    ({ task_id, lease_id }) => `{"op":"complete","task_id":"${task_id}","lease_id":"${lease_id}"}`,
  );
  const answer = await link.post('/v1/batch', `{"requests":[${requests.join()}]}`);
  const done = answer.body.split('"outcome":"COMMITTED"').length - 1;
  if (done !== count)
    throw new Error(`${done} of ${count} completed: ${answer.body.slice(0, 200)}`);
}
