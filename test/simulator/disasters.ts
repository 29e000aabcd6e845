// Owns what befalls the coordinator's machine between one event and the next: crashes, stops, other
// processes on the same log, a full disk, pauses and clocks that are set.

import { text } from './checkers/same.ts';
import { Violation } from './checkers/violation.ts';
import type { Node } from './node.ts';
import { Random } from './random.ts';
import { turn } from './turn.ts';
import type { World } from './world.ts';

const DAY_MS = 86_400_000;

export class Disasters {
  private readonly world: World;
  private readonly dice: Random;
  private readonly weights: Readonly<Record<Disaster, number>>;
  private readonly sum: number;
  /** Events until the next one. */
  private pause: number;

  constructor(world: World) {
    this.world = world;
    this.dice = new Random(world.settings.seed, 'disasters');
    const { jump, wallStep, crash, takeover, race, stop, restore, outage, leave } = world.troubles;
    this.weights = { jump, wallStep, crash, takeover, race, stop, restore, outage, leave };
    this.sum = Object.values(this.weights).reduce((sum, weight) => sum + weight, 0);
    this.pause = this.dice.until(this.sum);
  }

  next(): Promise<void> | undefined {
    if (this.pause > 0) {
      this.pause -= 1;
      return undefined;
    }
    const { dice, world } = this;
    this.pause = dice.until(this.sum);
    switch (dice.weighted(this.weights)) {
      case 'jump':
        world.pass(dice.pick([1, 1_000, 60_000, DAY_MS]));
        return undefined;
      case 'wallStep':
        world.stepWall(dice.pick([-1, 1]) * dice.pick([1, 1_000, 3_600_000, DAY_MS]));
        return undefined;
      case 'outage':
        world.disk.outageUntil = world.events.now + dice.pick([10, 500, 5_000]);
        return undefined;
      case 'leave':
        this.leave();
        return undefined;
      case 'crash':
        return this.crash();
      case 'restore':
        return this.crash(1_000);
      case 'stop':
        return this.stop();
      case 'takeover':
        return this.takeover();
      case 'race':
        return this.race();
    }
  }

  /** The connection of a parked request closes, or half of it does. */
  private leave(): void {
    const { parked } = this.world.model;
    if (parked.length === 0) return;
    const { ticket } = this.dice.pick(parked);
    if (this.dice.chance(0.5)) this.world.withdraw(ticket);
    else this.world.hurry(ticket);
  }

  /** The process dies; of a commit in flight the disk has all or nothing. */
  private async crash(skip = 0): Promise<void> {
    const { world } = this;
    const { log } = world.node;
    const survives = this.dice.chance(0.5);
    const how = `the commit in flight ${survives ? 'done' : 'undone'}`;
    world.transcript.add(world.now(), skip > 0 ? 'crash and restore' : 'crash', how);
    if (survives && log.pending) log.settle('lost answer');
    world.bury();
    await turn();
    await world.reboot(skip);
  }

  /** Stops as it should, and starts again: everybody has been answered. */
  private async stop(): Promise<void> {
    const { world } = this;
    const { node } = world;
    if (node.loop.view.mode !== 'serving') return;
    world.stop();
    while (node.log.pending) {
      node.log.settle();
      await turn();
      world.afterCommit();
    }
    const [ticket] = world.model.expected.keys();
    if (ticket !== undefined)
      throw new Violation('answers', `stopped, and ${ticket} hears nothing`);
    world.bury();
    await world.reboot();
  }

  /** Another process starts on the same log, and this one is not told. */
  private async takeover(): Promise<void> {
    const { world } = this;
    const old = world.node;
    if (old.log.pending || old.loop.view.mode !== 'serving') return;
    world.transcript.add(world.now(), 'another process takes the log over');
    world.bury();
    await world.reboot();
    world.node.log.settle();
    await turn();
    world.afterCommit();
    world.plan();
    await goOnAlone(old);
  }

  /** Another process has read the log and wants to write to it: too late, or we are. */
  private async race(): Promise<void> {
    const { world } = this;
    const old = world.node;
    if (old.loop.view.mode !== 'serving') return;
    const { last } = world.store;
    const other = world.other();
    other.start();
    await turn();
    if (!other.log.pending) throw other.broken ?? new Violation('fencing', 'it does not start');
    world.events.after(this.dice.pick([0, 1, 5]), async () => {
      if (world.store.last === last) return;
      other.log.settle();
      await turn();
      if (other.fatal === undefined) {
        throw new Violation('fencing', 'a process became the writer of a log that it had not read');
      }
    });
  }
}

type Disaster =
  | 'jump'
  | 'wallStep'
  | 'crash'
  | 'takeover'
  | 'race'
  | 'stop'
  | 'restore'
  | 'outage'
  | 'leave';

/** A writer that was overtaken answers nobody as if it were not, and ends. */
async function goOnAlone(old: Node): Promise<void> {
  const before = old.given.length;
  for (let n = 1; n <= 3; n += 1) {
    old.loop.take(-n, { op: 'submit', queue: 'q0', payload: new Uint8Array([n]) });
  }
  const lease = { op: 'lease', workerId: 'old', queues: ['q0'], max: 3, waitMs: 0 } as const;
  old.loop.take(-4, { ...lease, base64: false });
  old.loop.flush();
  if (old.log.pending) old.log.settle();
  await turn();
  for (const { response } of old.given.slice(before)) {
    const isTold = response.kind === 'refusal' && response.outcome === 'UNAVAILABLE';
    if (!isTold) throw new Violation('fencing', `a fenced writer answered ${text(response)}`);
  }
  if (old.fatal === undefined) throw new Violation('fencing', 'a fenced writer goes on');
}
