// Owns the long lists that are being looked at: queues and workers, of which there may be a hundred
// thousand. Each step looks at a bounded slice, so that other requests are decided in between.

import type { Slices } from '../core/queue-list.ts';
import type { ReadRequest } from '../core/views.ts';
import type { Response } from '../model/response.ts';
import type { Ticket } from './group-commit.ts';

/** Lists that are looked at, one after the other; further requests are refused. */
const OPEN_MAX = 1_000;

interface Listing {
  readonly request: ReadRequest;
  readonly slices: Slices;
}

export class Listings {
  private readonly open = new Map<Ticket, Listing>();

  get size(): number {
    return this.open.size;
  }

  get isFull(): boolean {
    return this.open.size >= OPEN_MAX;
  }

  /** @returns the answer of a list that is one slice long; undefined: `next` gives it later. */
  begin(ticket: Ticket, request: ReadRequest, slices: Slices): Response | undefined {
    const step = slices.next();
    if (step.done === true) return step.value;
    this.open.set(ticket, { request, slices });
    return undefined;
  }

  /** Looks at one slice of the oldest list. @returns its answer when that was the last one. */
  next(): { readonly ticket: Ticket; readonly answer: Response } | undefined {
    const [ticket, listing] = this.open.entries().next().value ?? [];
    if (ticket === undefined || listing === undefined) return undefined;
    const step = listing.slices.next();
    if (step.done !== true) return undefined;
    this.open.delete(ticket);
    return { ticket, answer: step.value };
  }

  withdraw(ticket: Ticket): void {
    this.open.delete(ticket);
  }

  /** The state that the lists show is gone: they are to be begun anew. */
  takeAll(): [Ticket, ReadRequest][] {
    const all = [...this.open].map(([ticket, { request }]): [Ticket, ReadRequest] => [
      ticket,
      request,
    ]);
    this.open.clear();
    return all;
  }
}
