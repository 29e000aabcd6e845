// Owns one connection to the socket: writes calls as JSON-RPC lines, joined per turn of the event
// loop, and hands each answer to the caller with its id. A connection is never opened again;
// socket-transport.ts makes a new one.

import { connect, type Socket } from 'node:net';
import { LineReader } from '../protocol/framing.ts';
import { isHttpAnswer } from '../protocol/wrong-port.ts';
import { LeaseholdError } from './errors.ts';
import { monotonicMs } from './local-clock.ts';
import { reasonOf } from './reason.ts';
import { type Answer, type Call, type Target, TransportFailure, type Wire } from './transport.ts';

/** V8 cannot hold a longer string; a coordinator's answers stay far below. */
const LINE_MAX_BYTES = 512 * 1024 * 1024;

interface Waiting {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
  readonly sentAtMs: number;
  readonly lineBytes: number;
}
export interface Sent {
  readonly id: number;
  readonly answer: Promise<Answer>;
}

export class SocketConnection {
  readonly #socket: Socket;
  readonly #waiting = new Map<number, Waiting>();
  readonly #reader: LineReader;
  #nextId = 1;
  #connected = false;
  #corked = false;
  #fatal: Error | undefined;
  #lastReceivedMs = 0;
  /** Set when no further call may be written: it was closed, or half-closed by us. */
  ended = false;

  constructor(target: Extract<Target, { kind: 'socket' }>, token: string | undefined) {
    this.#reader = new LineReader(
      () => LINE_MAX_BYTES,
      () => {
        this.destroy(new TransportFailure('an answer is too long to read', true));
      },
    );
    this.#socket = 'path' in target ? connect(target.path) : connect(target.port, target.host);
    this.#socket.setNoDelay(true);
    this.#socket.on('connect', () => {
      this.#connected = true;
    });
    this.#socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    this.#socket.on('error', (cause) => {
      this.#fatal ??= new TransportFailure(reasonOf(cause), this.#connected, { cause });
    });
    this.#socket.on('end', () => {
      this.ended = true;
    });
    this.#socket.on('close', () => this.#gone());
    if (token !== undefined) this.#authenticate(token);
  }

  get connected(): boolean {
    return this.#connected;
  }

  get idle(): boolean {
    return this.#waiting.size === 0;
  }

  /**
   * Writes the calls as one line: a single call as an object, several calls as a batch. Call this
   * only while the connection has not ended.
   */
  write(calls: readonly Call[]): Sent[] {
    const sentAtMs = monotonicMs();
    const first = this.#nextId;
    this.#nextId += calls.length;
    const objects = calls.map(({ op, params }, index) => ({
      jsonrpc: '2.0',
      id: first + index,
      method: op,
      params,
    }));
    const line = JSON.stringify(objects.length === 1 ? objects[0] : objects);
    const lineBytes = Buffer.byteLength(line);
    const sent = objects.map(({ id }) => {
      const answer = new Promise<Answer>((resolve, reject) => {
        this.#waiting.set(id, { resolve, reject, sentAtMs, lineBytes });
      });
      return { id, answer };
    });
    this.#write(`${line}\n`);
    return sent;
  }

  /**
   * The caller waits no more, and a late answer is dropped. If a call timed out (`isLate`) and the
   * connection has brought nothing since the call was written, the connection counts as dead.
   */
  forget(id: number, isLate: boolean): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (isLate && waiting !== undefined && this.#lastReceivedMs < waiting.sentAtMs) {
      this.destroy(new TransportFailure('the connection is silent', this.#connected));
    }
  }

  /** Closes our half: a parked request is then answered at once, what is in flight as well. */
  end(): void {
    this.ended = true;
    this.#socket.end();
  }

  destroy(error: Error): void {
    this.ended = true;
    this.#fatal ??= error;
    this.#socket.destroy();
  }

  #authenticate(token: string): void {
    // Pipelined before everything else: no round trip is spent on it.
    const [sent] = this.write([{ op: 'auth', params: { token } }]);
    sent?.answer.catch((error) => this.destroy(error));
  }

  #write(line: string): void {
    if (!this.#corked) {
      this.#corked = true;
      this.#socket.cork();
      process.nextTick(() => {
        this.#corked = false;
        this.#socket.uncork();
      });
    }
    this.#socket.write(line);
  }

  #receive(chunk: Buffer): void {
    this.#lastReceivedMs = monotonicMs();
    this.#reader.push(chunk, (line) => {
      let message: unknown;
      try {
        message = JSON.parse(line.toString('utf8'));
      } catch {
        const why = isHttpAnswer(line)
          ? 'this port speaks HTTP: write its URL with http: (the port for tcp: is another one)'
          : 'a line of the answer is no JSON';
        this.destroy(new LeaseholdError('PROTOCOL', why));
        return false;
      }
      for (const one of Array.isArray(message) ? message : [message]) this.#answer(one as Wire);
      return true;
    });
  }

  #answer(message: Wire): void {
    const id = message.id;
    if (id === null) return this.#answerToNone(message.error as Wire | undefined);
    const waiting = this.#waiting.get(id as number);
    if (waiting === undefined) return;
    this.#waiting.delete(id as number);
    const body = bodyOf(message);
    if (body instanceof Error) waiting.reject(body);
    else {
      const { sentAtMs } = waiting;
      const retryAfterMs = body.retry_after_ms as number | undefined;
      waiting.resolve({ body, sentAtMs, retryAfterMs });
    }
  }

  /** A line that the server could not read has no id; too long ones are told by their length. */
  #answerToNone(error: Wire | undefined): void {
    const data = error?.data as Wire | undefined;
    const limit = data?.limit_bytes;
    if (data?.reason !== 'too_large' || typeof limit !== 'number') {
      this.destroy(new LeaseholdError('PROTOCOL', `a request was not read: ${error?.message}`));
      return;
    }
    for (const [id, waiting] of this.#waiting) {
      if (waiting.lineBytes <= limit) continue;
      this.#waiting.delete(id);
      const body = { outcome: 'REJECTED', reason: 'too_large', detail: error?.message };
      waiting.resolve({ body: { ...body, record: null }, sentAtMs: waiting.sentAtMs });
    }
  }

  #gone(): void {
    this.ended = true;
    const error = this.#fatal ?? new TransportFailure('the connection was closed', this.#connected);
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(error);
  }
}

function bodyOf(message: Wire): Wire | Error {
  if (typeof message.result === 'object' && message.result !== null) return message.result as Wire;
  const error = (message.error ?? {}) as { code?: number; message?: string; data?: Wire };
  if (error.code === -32001) {
    return new LeaseholdError('UNAUTHORIZED', 'the token is missing or wrong');
  }
  if (error.code === -32602) {
    const field = error.data?.field;
    const body = { outcome: 'REJECTED', reason: 'malformed', detail: error.message, record: null };
    return field === undefined ? body : { ...body, field };
  }
  return new LeaseholdError('PROTOCOL', `error ${error.code}: ${error.message}`);
}
