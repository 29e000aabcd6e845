// Owns an ingress thread's way to the coordinator: every request gets exactly one answer, also when
// the mailbox is full, the log is not replayed yet, or the coordinator dies. It knows no transport
// and decides nothing about a task.

import type { MailboxEnd } from '../../src/mailbox/mailbox.ts';
import { Producer } from '../../src/mailbox/producer.ts';
import { RequestTimes } from '../../src/metrics/request-times.ts';
import type { ClusterView } from '../../src/model/cluster-view.ts';
import { operationOf } from '../../src/model/operations.ts';
import { notLeader, type UnavailableReason, unavailable } from '../../src/model/refusal.ts';
import { type Request } from '../../src/model/request.ts';
import { type Answer, answerOf, decodeAnswer } from '../../src/protocol/answer-frame.ts';
import { encodeRequest } from '../../src/protocol/request-codec.ts';
import type { Progress } from '../shared/progress.ts';

/** Who waits for an answer: one object a request, which gate and mailbox keep until it is there. */
export abstract class Asker {
  /** Set by the gate: what was asked, and when by a clock that never runs backward. */
  op: Request['op'] = 'stats';
  sinceMs = 0;

  /** Called exactly once. */
  abstract answered(answer: Answer): void;
}

/** Made once: a refusal when all is full must cost next to nothing. */
const REFUSALS: Readonly<Record<Exclude<UnavailableReason, 'not_leader'>, Answer>> = {
  mailbox_full: answerOf(unavailable('mailbox_full', 'The mailbox is full; nothing happened.')),
  recovering: answerOf(unavailable('recovering', 'The log is being replayed; nothing happened.')),
  shutting_down: answerOf(
    unavailable('shutting_down', 'The coordinator is stopping; nothing happened.'),
  ),
  log_unavailable: answerOf(
    unavailable('log_unavailable', 'The log takes no records at present; nothing happened.'),
  ),
};
const REPEAT =
  'whether the request was recorded is not known.' +
  ' Repeat it with the same request id, or the same report.';
const DIED = answerOf(unavailable('log_unavailable', `The coordinator died; ${REPEAT}`));
const STALLED = answerOf(unavailable('log_unavailable', `The log does not answer; ${REPEAT}`));
/** How often a gate with open requests looks whether the log stalls. */
const LOOK_MS = 250;

const TICKETS = 2 ** 32;

/** The refusal of a node that follows; made once for each view of the cluster. */
interface Redirect {
  readonly view: ClusterView | undefined;
  readonly answer: Answer;
}

export class Gate {
  /** How long requests took, refused ones too. */
  readonly times = new RequestTimes();
  readonly #progress: Progress;
  readonly #openMax: number;
  #producer: Producer<Asker> | undefined;
  #closed = false;
  #lastTicket = 0;
  readonly #looking: NodeJS.Timeout;
  #redirect: Redirect | undefined;

  /** @param openMax requests that may be without an answer at a time, parked ones included. */
  constructor(progress: Progress, openMax: number) {
    this.#progress = progress;
    this.#openMax = openMax;
    this.#looking = setInterval(() => this.#look(), LOOK_MS).unref();
  }

  /** What this node knows of its cluster; undefined on a server without one. */
  cluster(): ClusterView | undefined {
    return this.#progress.cluster.read();
  }

  /** Requests without an answer yet. */
  get open(): number {
    return this.#producer?.openTickets ?? 0;
  }

  /** The connection to use from now on; what is open on an earlier one is answered as lost. */
  connect(end: MailboxEnd): void {
    this.#producer?.close();
    this.#producer = new Producer(end, {
      onReply: (asker, { bytes, from, to }) => this.#settle(asker, decodeAnswer(bytes, from, to)),
      onDeath: (open) => {
        for (const asker of open) this.#settle(asker, DIED);
      },
    });
  }

  /** From now on every request is refused; what is open is still answered. */
  refuseNew(): void {
    this.#closed = true;
  }

  /**
   * @returns the ticket by which the request can be withdrawn; 0 when it was refused, and then
   * the asker has its answer already.
   */
  ask(request: Request, asker: Asker): number {
    asker.op = request.op;
    asker.sinceMs = performance.now();
    const refusal = this.#refusal();
    const ticket = refusal === undefined ? this.#offer(request, asker) : 0;
    if (ticket === 0) this.#settle(asker, this.#refused(refusal ?? 'mailbox_full'));
    return ticket;
  }

  /** The asker is gone: it gets no answer any more, and a parked request grants nothing. */
  withdraw(ticket: number): void {
    this.#producer?.withdraw(ticket);
  }

  /** The request must be parked no longer: its answer comes now, as it is. */
  hasten(ticket: number): void {
    this.#producer?.hasten(ticket);
  }

  /** Ends the connection; what is open is answered as lost, now. */
  close(): void {
    this.#closed = true;
    clearInterval(this.#looking);
    this.#producer?.close();
  }

  /** The coordinator's thread is held up by its commit: nobody waits for it any longer. */
  #look(): void {
    if (!this.#progress.stalled || this.open === 0) return;
    for (const asker of this.#producer?.withdrawAll() ?? []) this.#settle(asker, STALLED);
  }

  #refusal(): UnavailableReason | undefined {
    if (this.#closed) return 'shutting_down';
    if (this.#producer === undefined || !this.#producer.alive) {
      return this.#progress.phase === 'stopping' ? 'shutting_down' : 'recovering';
    }
    return this.open < this.#openMax ? this.#progress.refusal() : 'mailbox_full';
  }

  #refused(reason: UnavailableReason): Answer {
    if (reason !== 'not_leader') return REFUSALS[reason];
    const view = this.#progress.cluster.read();
    const isNew = this.#redirect === undefined || this.#redirect.view !== view;
    if (isNew) this.#redirect = { view, answer: answerOf(notLeader(view?.leader?.url)) };
    return (this.#redirect as Redirect).answer;
  }

  #offer(request: Request, asker: Asker): number {
    const producer = this.#producer as Producer<Asker>;
    do {
      this.#lastTicket = (this.#lastTicket + 1) % TICKETS;
    } while (this.#lastTicket === 0 || producer.isOpen(this.#lastTicket));
    const kind = operationOf(request.op).inProgress ? 'report' : 'request';
    const taken = producer.offer(this.#lastTicket, kind, encodeRequest(request), asker);
    return taken ? this.#lastTicket : 0;
  }

  #settle(asker: Asker, answer: Answer): void {
    this.times.observe(asker.op, answer, performance.now() - asker.sinceMs);
    asker.answered(answer);
  }
}
