// Owns those who submit, look and meddle: new tasks around the backlog that the settings ask for,
// the same request id again, kills, redrives, reads, and ids that nobody ever had.

import type { Request, SubmitRequest } from '../../src/model/request.ts';
import { TASK_STATES } from '../../src/model/request.ts';
import type { Network } from './network.ts';
import { Random } from './random.ts';
import type { Stage } from './stage.ts';

/** While nobody answers, nobody asks more and more. */
const OPEN_MAX = 100;
const PAUSES = [0, 1, 2];
const MEDDLING_PAUSES = [5, 20, 50];

export class Clients {
  isOpen = true;
  private readonly world: Stage;
  private readonly network: Network;
  private readonly dice: Random;
  private requestIds = 0;
  private meddled = 0;
  /** Made once: most of what happens in a world is that somebody looks again. */
  private readonly submitAgain = (): void => this.submitLater();

  constructor(world: Stage, network: Network) {
    this.world = world;
    this.network = network;
    this.dice = new Random(world.settings.seed, 'clients');
    this.submitLater();
    this.meddleLater();
  }

  private submitLater(): void {
    const { world, dice, network } = this;
    const { waiting, leased } = world.model.book;
    const missing = this.isOpen ? world.settings.backlog - waiting.size - leased.size : 0;
    if (missing > 0 && network.open < OPEN_MAX) {
      const many = Math.min(missing, dice.between(1, world.settings.batch));
      const submits: SubmitRequest[] = [];
      for (let n = 0; n < many; n += 1) submits.push(this.someSubmit());
      network.callAll(submits);
    }
    world.events.after(missing > 0 ? dice.pick(PAUSES) : 10, this.submitAgain);
  }

  private meddleLater(): void {
    this.world.events.after(this.dice.pick(MEDDLING_PAUSES), this.meddle);
  }

  private readonly meddle = (): void => {
    const { world, dice } = this;
    // In proportion to what happens: looking on is not what a run is for.
    const isEnough = this.meddled > world.records * world.settings.meddling + 20;
    if (this.isOpen && !isEnough && this.network.open < OPEN_MAX) {
      const many = dice.between(1, world.settings.batch);
      this.meddled += many;
      const requests: Request[] = [];
      for (let n = 0; n < many; n += 1) requests.push(this.something());
      this.network.callAll(requests);
    }
    this.meddleLater();
  };

  private someSubmit(): SubmitRequest {
    const { dice, world } = this;
    const { leaseDurationMs } = world.settings.knobs;
    const request: SubmitRequest = {
      op: 'submit',
      queue: `q${dice.below(world.settings.queues)}`,
      payload: this.somePayload(),
      delayMs: dice.chance(0.1) ? dice.pick([1, 100, leaseDurationMs]) : undefined,
    };
    if (dice.chance(0.2)) {
      return {
        ...request,
        maxRetries: dice.below(4),
        backoffMs: dice.pick([0, 7, 1_200]),
        backoffFactor: dice.pick([1, 1.3, 100]),
        backoffMaxMs: dice.pick([undefined, 50, 5_000]),
        executionWindowMs: dice.pick([1, leaseDurationMs, leaseDurationMs * 3]),
        metadata: dice.chance(0.5) ? { kind: 'k' } : undefined,
      };
    }
    if (!dice.chance(0.3)) return request;
    this.requestIds += 1;
    // Now and then an id of before: the same content, or another.
    const id = dice.chance(0.3) ? Math.max(1, this.requestIds - dice.below(50)) : this.requestIds;
    const contentHash = new Uint8Array(16).fill(
      request.queue.charCodeAt(1) * (dice.chance(0.9) ? 1 : 2),
    );
    return { ...request, requestId: `r${id}`, contentHash };
  }

  private somePayload(): Uint8Array {
    const { dice } = this;
    const payload = new Uint8Array(dice.below(20));
    for (let n = 0; n < payload.length; n += 1) payload[n] = dice.below(256);
    return payload;
  }

  private something(): Request {
    const { dice } = this;
    const taskId = this.someTask();
    switch (
      dice.weighted({
        kill: 2,
        redrive: 6,
        task: 4,
        wait: 2,
        tasks: 1,
        standing: 2,
        stats: 2,
        odd: 4,
      })
    ) {
      case 'kill':
        return { op: 'kill', taskId, reason: 'because' };
      case 'redrive':
        return { op: 'redrive', taskId: this.someEnded() };
      case 'task':
        return { op: 'task', taskId, waitMs: 0, base64: false };
      case 'wait':
        return { op: 'task', taskId, waitMs: dice.pick([50, 1_000]), base64: true };
      case 'tasks':
        return {
          op: 'tasks',
          after: dice.below(this.world.store.last),
          limit: dice.pick([1, 10]),
          state: dice.pick([undefined, ...TASK_STATES]),
          queue: dice.pick([undefined, 'q0', 'q1']),
        };
      case 'standing':
        return { op: 'standing', taskId };
      case 'stats':
        return { op: dice.pick(['stats', 'queues', 'workers', 'metrics'] as const) };
      case 'odd':
        return { op: 'complete', taskId, leaseId: this.someLease(taskId) };
    }
  }

  private someTask(): number {
    const { waiting, leased, over } = this.world.model.book;
    const from = this.dice.pick([waiting, leased, over]);
    const skip = this.dice.below(Math.min(10, from.size));
    let n = 0;
    for (const id of from.keys()) {
      if (n === skip) return id;
      n += 1;
    }
    return this.dice.below(this.world.store.last + 2);
  }

  /** One of the task's own, or any number. */
  private someLease(taskId: number): number {
    const leases = this.world.model.book.find(taskId)?.leases ?? [];
    if (leases.length > 0 && this.dice.chance(0.8)) return this.dice.pick(leases).id;
    return this.dice.below(this.world.store.last + 10);
  }

  private someEnded(): number {
    for (const task of this.world.model.book.over.values()) {
      if (task.state !== 'COMPLETED' && this.dice.chance(0.5)) return task.id;
    }
    return this.someTask();
  }
}
