// Owns the messages between a worker's thread and the threads in which its handlers run.

import type { MessagePort } from 'node:worker_threads';
import type { AbortCode } from './errors.ts';
import type { LeaseData } from './lease.ts';

/** What a handler thread is asked to do: one attempt, or only to load the module. */
export interface HandlerTask {
  readonly moduleUrl: string;
  readonly attempt?: {
    readonly lease: LeaseData;
    readonly port: MessagePort;
    /** The span of the attempt; undefined: nothing is traced. */
    readonly traceparent: string | undefined;
  };
}

export type HandlerResult =
  | { readonly kind: 'returned'; readonly bytes?: Uint8Array | undefined }
  /** By the handler. `code` is what the thrown error had. */
  | {
      readonly kind: 'threw';
      readonly message: string;
      readonly isPermanent: boolean;
      readonly isWrongMachine: boolean;
    }
  /** There is no handler to be called. */
  | { readonly kind: 'unusable'; readonly message: string };

export type ToHandler =
  | { readonly kind: 'abort'; readonly code: AbortCode; readonly reason: string | undefined }
  | { readonly kind: 'beaten'; readonly ask: number; readonly isHeld: boolean };
export interface FromHandler {
  readonly kind: 'beat';
  readonly ask: number;
}
