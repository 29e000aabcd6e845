// Owns the words of the control plane: what the supervisor and the actors say to each other about
// starting, readiness, death and stopping. Requests and answers never travel here (see mailbox/).

import type { MessagePort } from 'node:worker_threads';
import type { MailboxEnd } from '../../src/mailbox/mailbox.ts';
import type { CoreKnobs } from '../../src/model/knobs.ts';
import type { ClusterSettings } from '../../src/settings/cluster-settings.ts';

/** workerData of the coordinator's thread; `control` and the ends' ports are transferred. */
export interface CoordinatorData {
  /** Absolute. */
  readonly dataDir: string;
  /** Absolute; undefined: what is removed from the log is gone. */
  readonly archiveDir?: string | undefined;
  readonly core: CoreKnobs;
  readonly segmentBytes: number;
  /** Pause between the timer's messages. */
  readonly tickMs: number;
  /** Start although the wall clock is more than 365 days after the newest record. */
  readonly acceptClock: boolean;
  /** Numbers to be left free by the first record of a restored log; 0 on any other start. */
  readonly skip: number;
  /** The cluster that this server is a node of; undefined: its log is its own. */
  readonly cluster?: ClusterSettings | undefined;
  /** Starts of this node that failed one after the other although it was elected. */
  readonly failedStarts: number;
  /** Of the product. */
  readonly version: string;
  /** The consumer's halves of the connections that exist at the start. */
  readonly ends: readonly MailboxEnd[];
  /** See progress.ts. */
  readonly progress: SharedArrayBuffer;
  readonly control: MessagePort;
}

/** What ends the coordinator's thread by itself. */
export interface CoordinatorFatal {
  readonly kind: 'fatal';
  /** LOG_LOCKED, LOG_FENCED, LOG_CORRUPT, LOG_DIRECTORY, CLOCK_AHEAD, …; INVARIANT for a bug. */
  readonly code: string;
  /** A sentence for the operator, naming the record or path where there is one. */
  readonly message: string;
  /** Of a node of a cluster: it goes back to following in a new thread, with so many failures. */
  readonly followsAgain?: { readonly failedStarts: number };
}

export type LogLevel = 'error' | 'warn' | 'info' | 'debug';

/** A line for the log output, which the supervisor's thread alone writes. */
export interface LogLine {
  readonly kind: 'log';
  readonly level: LogLevel;
  readonly msg: string;
  readonly [field: string]: unknown;
}

export type FromCoordinator =
  | {
      readonly kind: 'opened';
      readonly created: boolean;
      readonly records: number;
      readonly path: string;
    }
  | {
      readonly kind: 'ready';
      readonly replayMs: number;
      readonly replayRecords: number;
      readonly epoch: number;
    }
  /** A node of a cluster runs and can take over: requests are for another node. */
  | { readonly kind: 'following' }
  /** All records up to this number may be shown; sent after each flush, for the reader. */
  | { readonly kind: 'durable'; readonly seq: number }
  /** Everything is answered and the log is closed; the thread ends after this. */
  | { readonly kind: 'stopped' }
  | CoordinatorFatal
  | LogLine;

export type ToCoordinator =
  /** Answer what is in the mailbox, flush, close. */
  | { readonly kind: 'stop' }
  /** A connection made later: an ingress that was started again. `end.port` is transferred. */
  | { readonly kind: 'attach'; readonly end: MailboxEnd };

/**
 * What every actor under the pool exposes through Comlink on its control port. All calls return
 * promises on the supervisor's side, and are rejected when the actor dies.
 */
export interface ActorControl {
  /** Resolves when the actor does what it is for: an ingress listens, the reader answers. An error
   * (a port in use) is given as data, because Comlink loses an Error's code.
   * @param listening the addresses of the ingresses that were started before it. */
  start(listening?: readonly string[]): Promise<StartResult> | StartResult;
  /** First half of stopping: an ingress takes no new connections and refuses new requests. */
  quiesce(): Promise<void> | void;
  /** Second half, after the coordinator has answered everything: write out what is owed, close,
   * and let the pool's task resolve. */
  stop(): Promise<void> | void;
}

/** An actor that sends into the mailbox and has a channel to the reader: ingresses and timer. */
export interface ProducerControl extends ActorControl {
  /** The connection to use from now on; called before start, and again after the coordinator's
   * thread died and was started anew. Until the first call, requests are refused as recovering. */
  connect(end: MailboxEnd): Promise<void> | void;
  /** The channel to the reader to use from now on; again after the reader was started anew. What
   * this thread has measured is asked for over it; an ingress also asks about the log. */
  connectReader(port: MessagePort): Promise<void> | void;
}

export interface ReaderControl extends ActorControl {
  /** One more ingress that will ask over this port. */
  attach(port: MessagePort): Promise<void> | void;
  /** Records up to this number may be shown from now on; wakes the followers. */
  durable(seq: number): Promise<void> | void;
}

export type StartResult =
  | { readonly ok: true; readonly address?: string }
  | { readonly ok: false; readonly code: string; readonly message: string };
