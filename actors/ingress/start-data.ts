// Owns what a supervisor gives an ingress thread at its start; what comes later comes over the
// control port (control.ts, ProducerControl). Everything here can be cloned into a thread.

import type { MessagePort } from 'node:worker_threads';

export interface IngressConfig {
  readonly payloadMaxBytes: number;
  readonly batchMaxBytes: number;
  /** Undefined: nobody is asked for a token, and requests of web pages are refused instead. */
  readonly token?: string | undefined;
  /** The body of /v1/config: the knobs as they hold, with their source; no secrets. */
  readonly shownConfig: Readonly<Record<string, unknown>>;
  /** The version that /openapi.json names. */
  readonly version: string;
}

export interface ListenAddress {
  readonly host: string;
  /** 0: any free port; `start` answers with the address that is bound. */
  readonly port: number;
}

interface IngressBase {
  /** A ProducerControl is exposed on it; it stands in the transfer list. */
  readonly control: MessagePort;
  /** See progress.ts. */
  readonly progress: SharedArrayBuffer;
  readonly config: IngressConfig;
  readonly listen: ListenAddress;
}

export interface HttpIngressData extends IngressBase {
  readonly kind: 'http';
}

export interface SocketIngressData extends IngressBase {
  readonly kind: 'socket';
  /** A Unix socket besides; its directory is the supervisor's care. */
  readonly socketPath?: string | undefined;
}
