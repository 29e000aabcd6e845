// Owns which connection a call takes on the socket. All calls share one connection, but each long
// poll has one of its own: the only way to end a wait early is to close its connection, and that
// must not end other calls.

import { type LeaseholdError, RefusedError } from './errors.ts';
import { after } from './local-clock.ts';
import { onAbort } from './on-abort.ts';
import { SocketConnection } from './socket-connection.ts';
import {
  type Answer,
  abortReason,
  type Call,
  END_WAIT_MS,
  type SendOptions,
  type Target,
  type Transport,
  TransportFailure,
  type Wire,
} from './transport.ts';
import type { Refused } from './types.ts';

const FOLLOW_WAIT_MS = 20_000;
const FOLLOW_LATE_MS = 10_000;

type SocketTarget = Extract<Target, { kind: 'socket' }>;

export class SocketTransport implements Transport {
  readonly #target: SocketTarget;
  readonly #token: string | undefined;
  #shared: SocketConnection | undefined;
  readonly #open = new Set<SocketConnection>();
  /** Connections of finished long polls, for the next ones. */
  readonly #spare: SocketConnection[] = [];
  #closed: LeaseholdError | TransportFailure | undefined;

  constructor(target: SocketTarget, token: string | undefined) {
    this.#target = target;
    this.#token = token;
  }

  async send(call: Call, options: SendOptions): Promise<Answer> {
    if (options.endWait === undefined) {
      const [answer] = await this.#exchange(this.#sharedConnection(), [call], options);
      return answer as Answer;
    }
    const connection = this.#spareConnection();
    const undo = onAbort(options.endWait, () => {
      connection.end();
      const late = new TransportFailure('the wait was ended', true);
      setTimeout(() => connection.destroy(late), END_WAIT_MS).unref();
    });
    try {
      const [answer] = await this.#exchange(connection, [call], options);
      return answer as Answer;
    } finally {
      undo();
      if (!connection.ended && connection.idle) this.#spare.push(connection);
      else connection.destroy(new TransportFailure('the wait was given up', true));
    }
  }

  sendBatch(calls: readonly Call[], options: SendOptions): Promise<Answer[]> {
    return this.#exchange(this.#sharedConnection(), calls, options);
  }

  /** On the socket a follower asks again and again; each answer waits until there is something. */
  async *follow(params: Wire, signal?: AbortSignal): AsyncGenerator<Wire> {
    for (let from = params['from']; ; ) {
      const call = { op: 'log', params: { ...params, from, wait_ms: FOLLOW_WAIT_MS } };
      const options = { timeoutMs: FOLLOW_WAIT_MS + FOLLOW_LATE_MS, signal };
      const { body } = await this.send(call, options);
      if (body['outcome'] === 'UNAVAILABLE')
        throw new TransportFailure(String(body['reason']), true);
      if (!Array.isArray(body['records']))
        throw new RefusedError('log', body as unknown as Refused);
      for (const record of body['records']) yield record as Wire;
      from = body['next'];
    }
  }

  close(): void {
    this.#closed = new TransportFailure('the client was closed', true);
    for (const connection of this.#open) connection.destroy(this.#closed);
  }

  #sharedConnection(): SocketConnection {
    if (this.#shared === undefined || this.#shared.ended) this.#shared = this.#connect();
    return this.#shared;
  }

  #spareConnection(): SocketConnection {
    for (;;) {
      const spare = this.#spare.pop();
      if (spare === undefined) return this.#connect();
      if (!spare.ended) return spare;
    }
  }

  #connect(): SocketConnection {
    if (this.#closed !== undefined) throw this.#closed;
    for (const connection of this.#open) if (connection.ended) this.#open.delete(connection);
    const connection = new SocketConnection(this.#target, this.#token);
    this.#open.add(connection);
    return connection;
  }

  #exchange(
    connection: SocketConnection,
    calls: readonly Call[],
    options: SendOptions,
  ): Promise<Answer[]> {
    return new Promise((resolve, reject) => {
      const sent = connection.write(calls);
      const giveUp = (error: Error, isLate: boolean): void => {
        for (const { id } of sent) connection.forget(id, isLate);
        settle(() => reject(error));
      };
      const cancelTimeout = after(options.timeoutMs, () => {
        const text = `no answer within ${Math.ceil(options.timeoutMs)} ms`;
        giveUp(new TransportFailure(text, connection.connected), true);
      });
      const undo = onAbort(options.signal, () => giveUp(abortReason(options.signal), false));
      const settle = (act: () => void): void => {
        cancelTimeout();
        undo();
        act();
      };
      Promise.all(sent.map(({ answer }) => answer)).then(
        (answers) => settle(() => resolve(answers)),
        (error: Error) => settle(() => reject(error)),
      );
    });
  }
}
