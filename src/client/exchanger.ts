// Owns the sending of a request, over the transport that the URL names, until there is an answer
// or the retries are used up. The one thing that this file reads of an answer is whether it is
// UNAVAILABLE.

import { LeaseholdError } from './errors.ts';
import { HttpTransport } from './http-transport.ts';
import { monotonicMs, pause } from './local-clock.ts';
import { reasonOf } from './reason.ts';
import { isRepeatable, mayHaveHappened, nextRetryMs, type Trouble } from './resend.ts';
import { ServerList } from './server-list.ts';
import { SocketTransport } from './socket-transport.ts';
import {
  type Answer,
  type Call,
  parseTarget,
  type Transport,
  TransportFailure,
} from './transport.ts';
import type { CallOptions, ProtocolEvent } from './types.ts';

export interface ClientOptions {
  /**
   * `http://host:port`, `https://host:port`, `tcp://host:port` or `unix:/path`. Given a list, the
   * client stays with one server until that server does not answer or says that another one leads.
   */
  readonly url?: string | readonly string[];
  /** Bearer token, when the coordinator has one set. */
  readonly token?: string | undefined;
  /** One attempt of one request; 10 s. */
  readonly timeoutMs?: number;
  /** How often a request is sent again after a transport failure; 8. */
  readonly retries?: number;
  /** Pause before the first retry, doubling up to `backoffMaxMs`; 100 and 5 000. */
  readonly backoffMs?: number;
  readonly backoffMaxMs?: number;
  /** Sees every request and answer. */
  readonly onProtocol?: ((event: ProtocolEvent) => void) | undefined;
}

export const DEFAULT_URL = 'http://127.0.0.1:5327';

export interface Exchange {
  readonly answers: readonly Answer[];
  /** An earlier attempt may have taken effect although its answer was lost. */
  readonly resent: boolean;
}

/** @throws LeaseholdError INVALID_OPTION for a URL of another kind. */
export function openTransport(url: string, token: string | undefined): Transport {
  const target = parseTarget(url);
  if (target === undefined) {
    const shapes = 'http://host:port, https://host:port, tcp://host:port or unix:/path';
    throw new LeaseholdError('INVALID_OPTION', `url ${JSON.stringify(url)} is not ${shapes}`);
  }
  return target.kind === 'http'
    ? new HttpTransport(target.url, token)
    : new SocketTransport(target, token);
}

const openList = (urls: readonly string[], token: string | undefined): Transport =>
  new ServerList(urls.map((url) => ({ url, transport: openTransport(url, token) })));

export class Exchanger {
  readonly #transport: Transport;
  readonly #options: Required<Omit<ClientOptions, 'url' | 'token' | 'onProtocol'>>;
  readonly #onProtocol: ((event: ProtocolEvent) => void) | undefined;
  readonly #closing = new AbortController();

  constructor(options: ClientOptions) {
    const { timeoutMs = 10_000, retries = 8, backoffMs = 100, backoffMaxMs = 5_000 } = options;
    this.#options = { timeoutMs, retries, backoffMs, backoffMaxMs };
    this.#onProtocol = options.onProtocol;
    const { url = DEFAULT_URL, token } = options;
    this.#transport = typeof url === 'string' ? openTransport(url, token) : openList(url, token);
  }

  close(): void {
    this.#closing.abort(new LeaseholdError('CLOSED', 'the client was closed'));
    this.#transport.close();
  }

  /** Sends until there is an answer or the retries are used up. */
  async run(
    calls: readonly Call[],
    call: CallOptions,
    waitMs = 0,
    isBatch = false,
  ): Promise<Exchange> {
    const repeatable = calls.every(({ op }) => isRepeatable(op));
    let resent = false;
    for (let attempt = 1; ; attempt += 1) {
      call.signal?.throwIfAborted();
      this.#closing.signal.throwIfAborted();
      const result = await this.#attempt(calls, call, waitMs, isBatch, attempt);
      const trouble = result instanceof TransportFailure ? unanswered(result) : troubleOf(result);
      if (trouble === undefined) return { answers: result as Answer[], resent };
      const pauseMs = nextRetryMs(this.#options, repeatable, attempt, trouble, Math.random());
      if (pauseMs === undefined) {
        if (!(result instanceof TransportFailure)) return { answers: result, resent };
        throw unreachable(calls, attempt, result);
      }
      resent ||= mayHaveHappened(trouble);
      await pause(pauseMs, call.signal, this.#closing.signal);
    }
  }

  async #attempt(
    calls: readonly Call[],
    call: CallOptions,
    waitMs: number,
    isBatch: boolean,
    attempt: number,
  ): Promise<Answer[] | TransportFailure> {
    const [first] = calls as [Call, ...Call[]];
    const op = isBatch ? 'batch' : first.op;
    const sentAtMs = monotonicMs();
    this.#show('request', op, attempt, isBatch ? calls : first.params);
    const timeoutMs = (call.timeoutMs ?? this.#options.timeoutMs) + waitMs;
    // A grant may be on its way when the caller ends its wait. So the wait of a lease request is
    // ended by closing our half of the connection, and the answer is still read.
    const endsWait = op === 'lease' && waitMs > 0;
    const signals = endsWait ? { endWait: call.signal ?? never } : { signal: call.signal };
    const options = { timeoutMs, ...signals };
    let result: Answer[] | TransportFailure;
    try {
      result = isBatch
        ? await this.#transport.sendBatch(calls, options)
        : [await this.#transport.send(first, options)];
    } catch (error) {
      this.#show('answer', op, attempt, { error: reasonOf(error) }, sentAtMs);
      if (this.#closing.signal.aborted) throw this.#closing.signal.reason;
      if (endsWait) call.signal?.throwIfAborted();
      if (!(error instanceof TransportFailure)) throw error;
      return error;
    }
    const bodies = result.map(({ body }) => body);
    this.#show('answer', op, attempt, isBatch ? bodies : bodies[0], sentAtMs);
    return result;
  }

  #show(
    direction: ProtocolEvent['direction'],
    op: string,
    attempt: number,
    body: unknown,
    sentAtMs?: number,
  ): void {
    if (this.#onProtocol === undefined) return;
    const took = sentAtMs === undefined ? {} : { tookMs: monotonicMs() - sentAtMs };
    try {
      this.#onProtocol({ direction, op, attempt, body, thread: 'main', ...took });
    } catch (thrown) {
      // An observer that throws must not turn an answer into a failure.
      process.emitWarning(`onProtocol threw: ${reasonOf(thrown)}`, 'LeaseholdWarning', 'LISTENER');
    }
  }
}

const never = new AbortController().signal;

function unanswered(failure: TransportFailure): Trouble {
  return { kind: 'unanswered', written: failure.written };
}

/**
 * UNAVAILABLE in every place means that the batch was refused whole, and it is sent again whole. A
 * batch with any other answer is not sent again, because the outcomes in it stand.
 */
function troubleOf(got: readonly Answer[]): Trouble | undefined {
  if (!got.every(({ body }) => body.outcome === 'UNAVAILABLE')) return undefined;
  const reasons = got.map(({ body }) => String(body.reason));
  const reason = reasons.find((one) => one === 'log_unavailable') ?? reasons[0] ?? '';
  return { kind: 'unavailable', reason, retryAfterMs: got[0]?.retryAfterMs };
}

function unreachable(calls: readonly Call[], attempt: number, cause: TransportFailure): Error {
  const op = calls.length === 1 ? calls[0]?.op : `batch of ${calls.length}`;
  const isReport = calls.some((one) => one.op === 'complete' || one.op === 'fail');
  const code = isReport && cause.written ? 'REPORT_UNANSWERED' : 'UNREACHABLE';
  const times = attempt === 1 ? '' : ` (sent ${attempt} times)`;
  return new LeaseholdError(code, `${op}: ${cause.message}${times}`, { cause });
}
