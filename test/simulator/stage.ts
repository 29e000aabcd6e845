// Owns the shape of the world that workers, clients and their network live in: one coordinator on a
// disk (world.ts), or several that share a log (replicated/cluster.ts).

import type { LeaseGranted } from '../../src/model/records.ts';
import type { Request } from '../../src/model/request.ts';
import type { Response } from '../../src/model/response.ts';
import type { Events } from './events.ts';
import type { Model } from './model/model.ts';
import type { Settings, Troubles } from './settings.ts';

export interface Stage {
  readonly events: Events;
  readonly settings: Settings;
  readonly troubles: Troubles;
  readonly model: Model;
  /** Records of the log, as far as they are durable. */
  readonly records: number;
  /** The log; its newest durable record. */
  readonly store: { readonly last: number };
  /** How often coordinator time jumped ahead of true time, by a start with a later wall clock. */
  readonly timeJumps: number;
  /** By how much the coordinator's clock may be ahead after so many ms, for it is another one. */
  driftMs(ms: number): number;
  onAnswer: (ticket: number, response: Response) => void;
  onGrant: (record: LeaseGranted) => void;
  /** Everything that waited for an answer of a process that is gone. */
  onCrash: () => void;
  /** Coordinator time. */
  now(): number;
  newTicket(): number;
  take(ticket: number, request: Request): void;
  flush(): void;
}
