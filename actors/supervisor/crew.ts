// Owns the actors around the coordinator: the ingresses, the reader and the timer. It starts them,
// gives them their connections, and restarts each one that dies. The coordinator's thread is in
// coordinator-life.ts.

import { setTimeout as pause } from 'node:timers/promises';
import { MessageChannel } from 'node:worker_threads';
import type { MailboxEnd } from '../../src/mailbox/mailbox.ts';
import type {
  ActorControl,
  ProducerControl,
  ReaderControl,
  StartResult,
} from '../shared/control.ts';
import { ActorGone, moved } from '../shared/control-port.ts';
import type { Logger } from './logger.ts';
import type { SystemPlan } from './plan.ts';
import { type Actor, ActorPool, type ActorSpec } from './pool.ts';

/** Makes a connection to the coordinator that runs now. */
export type Connect = (name: string, options: { exempt: boolean }) => MailboxEnd;

const RESTART_MIN_MS = 100;
const RESTART_MAX_MS = 5_000;
/** An ingress that dies so often before it listens for the first time will never listen. */
const DEATHS_BEFORE_LISTENING_MAX = 3;

export class Crew {
  readonly #plan: SystemPlan;
  readonly #logger: Logger;
  readonly #pool: ActorPool;
  readonly #ingresses = new Map<string, Actor<ProducerControl>>();
  /** Where each ingress listens, by its name. */
  readonly #addresses = new Map<string, string>();
  readonly #deaths = new Map<string, number>();
  /** Who waits for an ingress that is started anew to listen, by its name. */
  readonly #awaited = new Map<string, (result: StartResult) => void>();
  #reader: Actor<ReaderControl>;
  #timer: Actor<ProducerControl>;
  #connect: Connect | undefined;
  #readable = false;
  #stopping = false;
  #shown = 0;
  #showing = false;

  constructor(plan: SystemPlan, logger: Logger) {
    this.#plan = plan;
    this.#logger = logger;
    this.#pool = new ActorPool(plan.ingresses.length + 2);
    this.#reader = this.#startReader();
    this.#timer = this.#startTimer();
    for (const spec of plan.ingresses) this.#startIngress(spec);
  }

  /** @returns the addresses that are listened on, or the first ingress that cannot. */
  async listen(): Promise<StartResult[]> {
    const results: StartResult[] = [];
    for (const actor of this.#ingresses.values()) results.push(await this.#listenFirst(actor));
    return results;
  }

  /** One that dies meanwhile is started anew, like any that dies later, and listens then. */
  #listenFirst(actor: Actor<ProducerControl>): Promise<StartResult> {
    const { name } = actor;
    return new Promise((resolve, reject) => {
      this.#awaited.set(name, resolve);
      this.#listen(actor).catch((error: Error) => {
        if (!(error instanceof ActorGone) || this.#stopping) reject(error);
      });
    }).finally(() => this.#awaited.delete(name)) as Promise<StartResult>;
  }

  /** From now on the coordinator of these connections is the coordinator. */
  connect(connect: Connect): void {
    this.#connect = connect;
    for (const actor of this.#ingresses.values()) this.#join(actor, connect, false);
    this.#join(this.#timer, connect, true);
  }

  /** The log can be read: lets the reader open it, and the ticks begin. */
  ready(): void {
    this.#attempt(this.#timer, (timer) => timer.control.call((remote) => remote.start()));
    if (this.#readable) return;
    this.#readable = true;
    this.#attempt(this.#reader, (reader) => reader.control.call((remote) => remote.start()));
  }

  /** Tells the reader how far it may show; one call at a time, the newest number counts. */
  durable(seq: number): void {
    this.#shown = seq;
    if (this.#showing || !this.#readable) return;
    this.#showing = true;
    this.#reader.control
      .call((remote) => remote.durable(seq))
      .catch(() => {})
      .finally(() => {
        this.#showing = false;
        if (this.#shown > seq) this.durable(this.#shown);
      });
  }

  /** No new connections, no new requests; what is under way goes on. */
  async quiesce(): Promise<void> {
    this.#stopping = true;
    const actors: Actor<ActorControl>[] = [...this.#ingresses.values(), this.#timer];
    await Promise.allSettled(
      actors.map((actor) => actor.control.call((remote) => remote.quiesce())),
    );
  }

  /** Everything is answered: writes out and closes. */
  async stop(): Promise<void> {
    this.#stopping = true;
    const actors: Actor<ActorControl>[] = [...this.#ingresses.values(), this.#timer, this.#reader];
    await Promise.allSettled(
      actors.map(async (actor) => {
        await actor.control.call((remote) => remote.stop()).catch(() => {});
        await actor.over;
      }),
    );
  }

  /** Ends the threads, whatever they do. */
  async destroy(): Promise<void> {
    this.#stopping = true;
    await this.#pool.destroy();
  }

  #startIngress(spec: ActorSpec): Actor<ProducerControl> {
    const actor = this.#pool.start<ProducerControl>(spec);
    this.#ingresses.set(spec.name, actor);
    this.#introduce(actor);
    void this.#mend(actor, async () => {
      const next = this.#startIngress(spec);
      if (this.#connect !== undefined) this.#join(next, this.#connect, false);
      await this.#listenAgain(next);
    });
    return actor;
  }

  async #listen({ name, control }: Actor<ProducerControl>): Promise<StartResult> {
    const result = await control.call((remote) => remote.start([...this.#addresses.values()]));
    if (result.ok && result.address !== undefined) this.#addresses.set(name, result.address);
    this.#awaited.get(name)?.(result);
    return result;
  }

  /** The port of the dead one may be held for a moment still, or be taken by another program. */
  async #listenAgain(ingress: Actor<ProducerControl>): Promise<void> {
    for (;;) {
      const result = await this.#listen(ingress);
      if (result.ok || this.#stopping) return;
      this.#logger.error({ ...result }, `the ${ingress.name} ingress cannot listen`);
      await pause(RESTART_MAX_MS);
    }
  }

  #startReader(): Actor<ReaderControl> {
    const reader = this.#pool.start<ReaderControl>(this.#plan.reader);
    void this.#mend(reader, async () => {
      this.#reader = this.#startReader();
      for (const actor of [...this.#ingresses.values(), this.#timer]) this.#introduce(actor);
      if (this.#readable) await this.#reader.control.call((remote) => remote.start());
    });
    return reader;
  }

  #startTimer(): Actor<ProducerControl> {
    const timer = this.#pool.start<ProducerControl>(this.#plan.timer);
    this.#introduce(timer);
    void this.#mend(timer, async () => {
      this.#timer = this.#startTimer();
      if (this.#connect !== undefined) this.#join(this.#timer, this.#connect, true);
      await this.#timer.control.call((remote) => remote.start());
    });
    return timer;
  }

  /** Starts anew after a pause that doubles with every death of that actor. */
  async #mend(actor: Actor<ActorControl>, again: () => Promise<void>): Promise<void> {
    const error = await actor.over;
    // Who waits for it at the start need not wait any more, once all is to stop.
    if (this.#stopping) return this.#awaited.get(actor.name)?.({ ok: true });
    const deaths = (this.#deaths.get(actor.name) ?? 0) + 1;
    this.#deaths.set(actor.name, deaths);
    const pauseMs = Math.min(RESTART_MIN_MS * 2 ** (deaths - 1), RESTART_MAX_MS);
    const why = error?.message ?? 'it ended without being asked to';
    this.#logger.error({ deaths, pause_ms: pauseMs, why }, `the ${actor.name} actor died`);
    if (deaths === DEATHS_BEFORE_LISTENING_MAX) {
      const message = `the ${actor.name} actor died ${deaths} times before it listened: ${why}`;
      this.#awaited.get(actor.name)?.({ ok: false, code: 'ACTOR_GONE', message });
    }
    await pause(pauseMs);
    if (this.#stopping) return this.#awaited.get(actor.name)?.({ ok: true });
    try {
      await again();
    } catch (thrown) {
      this.#lost(actor, thrown);
    }
  }

  #join(actor: Actor<ProducerControl>, connect: Connect, exempt: boolean): void {
    this.#attempt(actor, () => {
      const end = connect(actor.name, { exempt });
      return actor.control.call((remote) => remote.connect(moved(end, [end.port])));
    });
  }

  /** A channel of its own between an ingress or the timer and the reader. */
  #introduce(actor: Actor<ProducerControl>): void {
    const { port1, port2 } = new MessageChannel();
    this.#attempt(actor, ({ control }) =>
      control.call((remote) => remote.connectReader(moved(port1, [port1]))),
    );
    this.#attempt(this.#reader, ({ control }) =>
      control.call((remote) => remote.attach(moved(port2, [port2]))),
    );
  }

  /** A call to an actor that is just dying fails: what it was to do is done at its restart. */
  #attempt<A extends Actor<ActorControl>>(actor: A, act: (actor: A) => Promise<unknown>): void {
    new Promise((resolve) => resolve(act(actor))).catch((thrown) => this.#lost(actor, thrown));
  }

  #lost(actor: Actor<ActorControl>, thrown: unknown): void {
    if (this.#stopping) return;
    this.#logger.warn({ why: String(thrown) }, `a call to the ${actor.name} actor failed`);
  }
}
