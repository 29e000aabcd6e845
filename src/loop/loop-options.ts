// Owns what the loop is given: its log, knobs and clock, and whom it tells of what.

import type { DigestText } from '../core/state.ts';
import type { Archive, Log } from '../log/log.ts';
import type { CoreKnobs } from '../model/knobs.ts';
import type { Response } from '../model/response.ts';
import type { Clock } from './coordinator-time.ts';
import type { Ticket } from './group-commit.ts';
import type { RemovalEvents } from './removal.ts';
import type { Replayer } from './replay.ts';
import type { Mode } from './turn.ts';

export interface CoordinatorEvents extends RemovalEvents {
  /** The one answer to a ticket; everything it rests on is durable. */
  answer(ticket: Ticket, response: Response): void;
  /** Records up to this number are on the device. */
  durable(lastSeq: number, records: number): void;
  /**
   * A group is on its way no more, whatever became of it. What was decided meanwhile waits for the
   * next `flush`, so that requests that are here by then can be decided before, and share its
   * commit.
   */
  groupEnded?(): void;
  /** Whether requests can be decided, or only read, or nothing yet. */
  mode(mode: Mode): void;
  /** This writer must stop: another one has the log, or the log can neither be written nor read. */
  fatal(error: Error): void;
}

/**
 * Adds to an overview the figures that only the thread around the loop has: its mailbox and lag.
 */
export type Surroundings = () => Record<string, unknown>;

export interface CoordinatorOptions {
  readonly log: Log;
  readonly archive?: Archive | undefined;
  readonly knobs: CoreKnobs;
  readonly clock: Clock;
  readonly digestText: DigestText;
  readonly events: CoordinatorEvents;
  readonly acceptClock?: boolean;
  /** Numbers that the first record leaves free: those between were used elsewhere (R35). */
  readonly skip?: number;
  /** Was fed with the log's first records, so that the start has only the rest to replay. */
  readonly prepared?: Replayer;
  /**
   * The time of the coordinator before, as it would be now. It is asked once, after the log was
   * read, with the number of the newest CoordinatorStarted. undefined: nobody has heard of it.
   */
  readonly inherited?: (epoch: number) => number | undefined;
  /** Why the log should take no new tasks now, in words; undefined: it should. */
  readonly noRoom?: () => string | undefined;
  readonly onReplay?: (records: number) => void;
  readonly surroundings?: Surroundings;
}
