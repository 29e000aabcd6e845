// Owns the network between clients and the coordinator: it delays, drops, doubles and reorders
// requests and answers, and keeps who asked what. A call that gets no answer is sent again as the
// product's own retry rule says.

import {
  isRepeatable,
  mayHaveHappened,
  nextRetryMs,
  type RetryKnobs,
  type Trouble,
} from '../../src/client/resend.ts';
import type { Request } from '../../src/model/request.ts';
import type { Response } from '../../src/model/response.ts';
import { Random } from './random.ts';
import type { Stage } from './stage.ts';

const RETRY: RetryKnobs = { retries: 4, backoffMs: 20, backoffMaxMs: 500 };
const TIMEOUT_MS = 400;
const SWEEP_MS = 20;

export interface Outcome {
  /** undefined: nobody answered, or it was not taken, and the caller has given up. */
  readonly response: Response | undefined;
  /** An earlier sending of the same request may have taken effect. */
  readonly uncertain: boolean;
  readonly sentAt: number;
}

interface Call {
  readonly request: Request;
  readonly done: (outcome: Outcome) => void;
  attempt: number;
  sentAt: number;
  uncertain: boolean;
  isOver: boolean;
}

/** A sending whose answer is awaited until a certain time. */
interface Awaited {
  readonly call: Call;
  readonly attempt: number;
  readonly until: number;
}

export class Network {
  private readonly world: Stage;
  private readonly dice: Random;
  private readonly calls = new Map<number, { readonly call: Call; readonly attempt: number }>();
  /** What a request waits → sendings that do, in the order of their ends. */
  private readonly awaited = new Map<number, Awaited[]>();
  private isFlushing = false;
  /** Calls that are not over. */
  open = 0;

  constructor(world: Stage) {
    this.world = world;
    this.dice = new Random(world.settings.seed, 'network');
    world.onAnswer = (ticket, response) => this.answered(ticket, response);
    world.onCrash = () => this.calls.clear();
    world.events.after(SWEEP_MS, this.sweep);
  }

  call(request: Request, done: (outcome: Outcome) => void = () => {}): void {
    this.callAll([request], done);
  }

  /** Several requests in one message: they are lost, or arrive, together. */
  callAll(requests: readonly Request[], done: (outcome: Outcome) => void = () => {}): void {
    this.open += requests.length;
    this.send(
      requests.map((request) => {
        return { request, done, attempt: 0, sentAt: 0, uncertain: false, isOver: false };
      }),
    );
  }

  /** Arrives at this very moment, and nobody looks at the answer. */
  tell(request: Request, ticket = this.world.newTicket()): void {
    this.world.take(ticket, request);
    if (this.dice.chance(0.5)) this.world.flush();
    else this.flushLater();
  }

  private send(calls: readonly Call[]): void {
    const { now } = this.world.events;
    for (const call of calls) {
      call.attempt += 1;
      call.sentAt = now;
      this.await(call, 'waitMs' in call.request ? call.request.waitMs : 0);
    }
    this.deliver(calls);
    if (this.dice.chance(this.world.troubles.duplicate)) this.deliver(calls);
  }

  private await(call: Call, waitMs: number): void {
    const until = call.sentAt + TIMEOUT_MS + waitMs;
    const sending = { call, attempt: call.attempt, until };
    const others = this.awaited.get(waitMs);
    if (others === undefined) this.awaited.set(waitMs, [sending]);
    else others.push(sending);
  }

  private deliver(calls: readonly Call[]): void {
    const { troubles, events } = this.world;
    if (this.dice.chance(troubles.drop)) return;
    const attempts = calls.map((call) => call.attempt);
    events.after(this.delay(), () => {
      for (let n = 0; n < calls.length; n += 1) {
        const call = calls[n] as Call;
        const ticket = this.world.newTicket();
        // Before it is told: the answer may come at once.
        this.calls.set(ticket, { call, attempt: attempts[n] as number });
        this.tell(call.request, ticket);
      }
    });
  }

  private flushLater(): void {
    if (this.isFlushing) return;
    this.isFlushing = true;
    this.world.events.after(0, () => {
      this.isFlushing = false;
      this.world.flush();
    });
  }

  /** Gives up waiting; coarse, as time-outs are. */
  private readonly sweep = (): void => {
    const { events } = this.world;
    events.after(SWEEP_MS, this.sweep);
    for (const sendings of this.awaited.values()) {
      let due = 0;
      while ((sendings[due]?.until ?? Number.POSITIVE_INFINITY) <= events.now) due += 1;
      if (due === 0) continue;
      for (const { call, attempt } of sendings.splice(0, due)) {
        if (call.isOver || call.attempt !== attempt) continue;
        this.trouble(call, { kind: 'unanswered', written: true });
      }
    }
  };

  private answered(ticket: number, response: Response): void {
    const sending = this.calls.get(ticket);
    if (sending === undefined) return;
    this.calls.delete(ticket);
    const { call, attempt } = sending;
    if (this.dice.chance(this.world.troubles.drop)) return;
    const delay = this.delay();
    if (delay === 0) this.arrived(call, attempt, response);
    else this.world.events.after(delay, () => this.arrived(call, attempt, response));
  }

  private arrived(call: Call, attempt: number, response: Response): void {
    // An answer to an earlier sending comes too late: nobody waits for it.
    if (call.isOver || call.attempt !== attempt) return;
    if (response.kind === 'refusal' && response.outcome === 'UNAVAILABLE') {
      const { reason, retryAfterMs } = response;
      this.trouble(call, { kind: 'unavailable', reason, retryAfterMs });
      return;
    }
    this.open -= 1;
    call.isOver = true;
    call.done({ response, uncertain: call.uncertain, sentAt: call.sentAt });
  }

  private trouble(call: Call, trouble: Trouble): void {
    if (mayHaveHappened(trouble)) call.uncertain = true;
    const { request, attempt } = call;
    const dice = this.dice.next() / 2 ** 32;
    const pause = nextRetryMs(RETRY, isRepeatable(request.op), attempt, trouble, dice);
    if (pause === undefined) {
      this.open -= 1;
      call.isOver = true;
      call.done({ response: undefined, uncertain: call.uncertain, sentAt: call.sentAt });
      return;
    }
    // An answer to this sending must not be taken for one to the next.
    call.attempt += 1;
    const { attempt: waiting } = call;
    this.world.events.after(Math.ceil(pause), () => {
      if (!call.isOver && call.attempt === waiting) this.send([call]);
    });
  }

  private delay(): number {
    if (this.dice.chance(this.world.troubles.slow))
      return this.dice.pick([100, 350, 1_000, 20_000]);
    return this.dice.pick(this.world.settings.delays);
  }
}
