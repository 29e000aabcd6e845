// Owns what granting and reading may do with the loop: look at what a decision looks at, let a
// record happen, and answer. They hold a Turn and nothing else of the coordinator.

import type { Context } from '../core/context.ts';
import type { State } from '../core/state.ts';
import type { Subject } from '../core/subject.ts';
import type { LogRecord } from '../model/records.ts';
import type { Response } from '../model/response.ts';
import type { Ticket } from './group-commit.ts';

/** `serving` decides requests, `read-only` answers reads; the others decide nothing at present. */
export type Mode = 'starting' | 'serving' | 'read-only' | 'rebuilding' | 'ended';

export interface Turn {
  /** What a decision looks at. There is one for each coordinator; its state is the present one. */
  readonly context: Context;
  readonly mode: Mode;
  /** A coordinator that is stopping parks no more requests. */
  readonly stopping: boolean;
  /** Checks the record, gives it the next number, appends it to the open group and applies it. */
  decide(record: LogRecord, subject: Subject): void;
  /**
   * The only way out for an answer: it leaves when every record that existed at its decision is
   * durable.
   * @param needsProof false for figures: whoever shows them need not be confirmed as the writer
   */
  answer(ticket: Ticket, response: Response, needsProof?: boolean): void;
}

interface TurnParts extends Pick<Turn, 'decide' | 'answer'>, Pick<Context, 'knobs' | 'read'> {
  /** The state and the mode of the present, which a rebuild replaces. */
  readonly present: { readonly state: State; readonly mode: Mode };
  readonly isStopping: () => boolean;
}

/** @returns the Turn of a coordinator that is made of these parts. */
export function turnOf({ knobs, read, present, isStopping, decide, answer }: TurnParts): Turn {
  const context: Context = {
    get state() {
      return present.state;
    },
    knobs,
    read,
  };
  return {
    context,
    get mode() {
      return present.mode;
    },
    get stopping() {
      return isStopping();
    },
    decide,
    answer,
  };
}
