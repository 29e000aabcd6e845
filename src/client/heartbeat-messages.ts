// Owns the messages between a worker's thread and its heartbeat thread, and nothing else.

import type { ClientOptions } from './exchanger.ts';
import type { ProtocolEvent, ReportOutcome } from './types.ts';

export interface HeartbeatThreadData {
  readonly client: Omit<ClientOptions, 'onProtocol'>;
  /** Whether requests and answers are to be shown to the worker's `protocol` listeners. */
  readonly isTraced: boolean;
}

export interface HoldMessage {
  readonly kind: 'hold';
  readonly taskId: string;
  readonly leaseId: string;
  readonly cell: SharedArrayBuffer;
  readonly endsAtMs: number;
  readonly windowEndsAtMs: number;
  readonly intervalMs: number;
  readonly mode: 'thread' | 'handler';
}

export type ToHeartbeatThread =
  | HoldMessage
  | { readonly kind: 'drop'; readonly leaseId: string }
  /** The handler wants a heartbeat now; answered with `beaten` and the same number. */
  | { readonly kind: 'beat'; readonly leaseId: string; readonly ask: number }
  | { readonly kind: 'trace'; readonly isTraced: boolean }
  | { readonly kind: 'close' };

export type FromHeartbeatThread =
  /** It listens: a lease that is held from now on is kept. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'lost'; readonly leaseId: string; readonly reason: string }
  | { readonly kind: 'deadline'; readonly leaseId: string }
  /** What became of the failure that was reported at the deadline. */
  | {
      readonly kind: 'deadline_reported';
      readonly leaseId: string;
      readonly outcome?: ReportOutcome;
      readonly error?: string;
    }
  | { readonly kind: 'beaten'; readonly ask: number; readonly isHeld: boolean }
  | { readonly kind: 'protocol'; readonly event: ProtocolEvent }
  /** A heartbeat got no answer; the lease is still held. */
  | { readonly kind: 'trouble'; readonly message: string };
