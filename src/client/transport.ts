// Owns the contract of the two transports: one request goes out, and one answer or one failure
// comes back. A transport retries nothing. resend.ts decides that, and needs to know whether the
// request was written.

import { reasonOf } from './reason.ts';

export type Wire = Record<string, unknown>;

export interface Call {
  readonly op: string;
  /** The interface's field names, ids included. */
  readonly params: Wire;
}

export interface Answer {
  /** What HTTP would have in the body, refusals included; a JSON-RPC error is mapped to it. */
  readonly body: Wire;
  /** Monotonic, taken before the first byte left: a lease never begins earlier than this. */
  readonly sentAtMs: number;
  readonly retryAfterMs?: number | undefined;
}

export interface SendOptions {
  readonly timeoutMs: number;
  /** Rejects with its reason; the answer is thrown away. */
  readonly signal?: AbortSignal | undefined;
  /** Ends a long poll: our half of the connection is closed, and the answer still awaited. */
  readonly endWait?: AbortSignal | undefined;
}

export interface Transport {
  send(call: Call, options: SendOptions): Promise<Answer>;
  /** All of them in one message; answers in the order of the calls. */
  sendBatch(calls: readonly Call[], options: SendOptions): Promise<Answer[]>;
  /**
   * Yields the records of the log as they become durable, from the record `params.from` on; the
   * other params filter the records. The stream ends only by `signal` or by a TransportFailure.
   * After a failure, ask again from the record after the last one that came.
   */
  follow(params: Wire, signal?: AbortSignal): AsyncIterable<Wire>;
  /** Fails what is in flight. */
  close(): void;
}

/** How long an ended long poll may take to answer before its connection is dropped. */
export const END_WAIT_MS = 1_000;

/** No answer came. `written` says whether the request may have been. */
export class TransportFailure extends Error {
  override readonly name = 'TransportFailure';
  readonly written: boolean;
  constructor(message: string, written: boolean, options?: ErrorOptions) {
    super(message, options);
    this.written = written;
  }
}

export type Target =
  | { readonly kind: 'http'; readonly url: URL }
  | { readonly kind: 'socket'; readonly host: string; readonly port: number }
  | { readonly kind: 'socket'; readonly path: string };

/**
 * @returns the target of `http://host:port`, `https:…`, `tcp://host:port` or `unix:/path`;
 *   undefined for any other text, and for a URL that holds more than an address (a user, a query)
 */
export function parseTarget(text: string): Target | undefined {
  if (text.startsWith('unix:')) {
    const path = text.slice('unix:'.length).replace(/^\/\/(?=\/)/, '');
    return path === '' ? undefined : { kind: 'socket', path };
  }
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return undefined;
  }
  const { hostname, username, password, search, hash, pathname, protocol } = url;
  // What would be left out of account is no part of an address.
  if (hostname === '' || username + password + search + hash !== '') return undefined;
  if (protocol === 'http:' || protocol === 'https:') return { kind: 'http', url };
  if (protocol !== 'tcp:' || !/^\/?$/.test(pathname)) return undefined;
  const host = hostname.replace(/^\[|\]$/g, '');
  return { kind: 'socket', host, port: url.port === '' ? 5328 : Number(url.port) };
}

/** Why a signal aborted, which its owner may have said with any value. */
export function abortReason(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  return reason instanceof Error ? reason : new Error(reasonOf(reason));
}
