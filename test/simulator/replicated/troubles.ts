// Owns what befalls a simulated cluster between one event and the next: processes die, machines
// start anew and lose their disks, networks part, etcd loses its majority or is full, clocks stop,
// and somebody tries to lead whom nobody needs.

import { Random } from '../random.ts';
import type { Cluster } from './cluster.ts';
import { KEYS, PREFIX } from './layout.ts';
import type { Machine } from './machine.ts';
import { MirrorStore } from './mirror.ts';
import type { ClusterTroubles } from './settings.ts';

const DAY_MS = 86_400_000;
/** Longer than a lease of etcd: a machine whose disk is lost is known to be gone. */
const GONE_MS = 3_000;
const SELDOM = 0.1;

type Trouble = keyof ClusterTroubles;

export class ClusterDisasters {
  private readonly cluster: Cluster;
  private readonly dice: Random;
  private readonly weights: Readonly<Record<Trouble, number>>;
  private readonly sum: number;
  private pause: number;

  constructor(cluster: Cluster) {
    this.cluster = cluster;
    this.dice = new Random(cluster.settings.seed, 'cluster disasters');
    this.weights = { ...cluster.cluster, doubt: 0 };
    this.sum = Object.values(this.weights).reduce((sum, weight) => sum + weight, 0);
    this.pause = this.dice.until(this.sum);
  }

  next(): void {
    if (this.pause > 0) {
      this.pause -= 1;
      return;
    }
    this.pause = this.dice.until(this.sum);
    // While nobody leads, much happens and little comes of it: then trouble is seldom.
    if (!this.isLed && !this.dice.chance(SELDOM)) return;
    this.befall(this.dice.weighted(this.weights));
  }

  private get isLed(): boolean {
    const { leader } = this.cluster.judge;
    return leader?.phase === 'leading' && leader.loop?.view.mode === 'serving';
  }

  private befall(trouble: Trouble): void {
    const { dice, cluster } = this;
    const machine = dice.pick(cluster.machines);
    cluster.transcript.add(cluster.now(), `trouble: ${trouble} (${machine.name})`);
    switch (trouble) {
      case 'kill':
        return cluster.kill(machine, dice.pick([10, 500, 3_000]));
      case 'reboot':
        return this.reboot(machine);
      case 'blackout':
        return cluster.machines.forEach((one) => this.reboot(one));
      case 'elect':
        return cluster.elect(machine);
      case 'stop':
        return this.stop();
      case 'partition':
        return this.part(machine);
      case 'majorityLost':
        return this.loseMajority();
      case 'noSpace':
        return this.fill();
      case 'compact':
        return this.compact();
      case 'clockStops':
        return machine.stopClock(dice.pick([10, 1_000, 10_000]));
      case 'wallStep':
        return machine.stepWall(dice.pick([-1, 1]) * dice.pick([1, 1_000, 3_600_000, DAY_MS]));
      case 'jump':
        return cluster.pass(dice.pick([1, 1_000, 60_000, DAY_MS]));
      case 'wipe':
        return this.wipe(machine);
      case 'leave':
        return this.leave();
      case 'doubt':
        return undefined;
    }
  }

  private reboot(machine: Machine): void {
    this.cluster.kill(machine, this.dice.pick([500, 3_000]));
    machine.reboot();
  }

  private stop(): void {
    const { leader } = this.cluster.judge;
    if (leader?.phase !== 'leading' || leader.loop?.view.mode !== 'serving') return;
    leader.phase = 'stopping';
    this.cluster.judge.stop(leader);
    leader.product?.leave();
    this.cluster.events.after(this.dice.pick([100, 3_000]), () => {
      if (leader.phase === 'stopping') this.cluster.kill(leader.machine, 10);
    });
  }

  private part({ member }: Machine): void {
    if (member === undefined) return;
    const { network } = member;
    const kinds = ['requests lost', 'requests held', 'answers lost', 'both lost'] as const;
    network.partition = this.dice.pick(kinds);
    this.cluster.events.after(this.dice.pick([50, 1_000, 5_000]), () => {
      network.partition = 'none';
    });
  }

  private loseMajority(): void {
    const { etcd, events } = this.cluster;
    for (const index of [0, 1]) {
      etcd.setMember(index, false);
      events.after(this.dice.pick([50, 1_000, 5_000]), () => etcd.setMember(index, true));
    }
  }

  /** etcd is full, until an operator makes room. */
  private fill(): void {
    const { etcd, events } = this.cluster;
    etcd.raise('NOSPACE');
    events.after(this.dice.pick([100, 2_000]), () => {
      etcd.defragment();
      etcd.disarm();
    });
  }

  private compact(): void {
    const { etcd } = this.cluster;
    const revision = etcd.revision - this.dice.pick([0, 0, 1, 10, 100]);
    try {
      etcd.compact(revision);
    } catch {
      // It was compacted further than that.
    }
  }

  /** A machine is gone for good, with its disk; another one comes in its place. */
  private wipe(machine: Machine): void {
    const { cluster } = this;
    // Whoever is left must be able to go on.
    if (cluster.machines.some(({ member }) => member === undefined)) return;
    cluster.kill(machine, this.dice.pick([4_000, 20_000, 100_000]));
    cluster.events.after(this.dice.pick([GONE_MS, 15_000]), () => {
      const { agreed, etcd } = cluster;
      const others = cluster.machines.filter((one) => one !== machine);
      const isHeld = others.some(({ mirror }) => mirror.last >= agreed.trimmed);
      const reports = [`${PREFIX}sim-live/${machine.name}`, KEYS.node(machine.name)];
      const isReported = reports.some((key) => etcd.range(key, undefined).kvs.length > 0);
      if (!isHeld || isReported || machine.member !== undefined) return;
      cluster.transcript.add(cluster.now(), `${machine.name} has lost its disk`);
      machine.mirror = new MirrorStore(machine.name, cluster.agreed);
      machine.disk += 1;
      machine.heard = undefined;
      machine.delivered = undefined;
    });
  }

  /** The connection of a parked request closes, or half of it does. */
  private leave(): void {
    const { judge } = this.cluster;
    const { leader, model } = judge;
    if (model.parked.length === 0 || leader?.phase !== 'leading') return;
    const { ticket } = this.dice.pick(model.parked);
    if (this.dice.chance(0.5)) judge.withdraw(leader, ticket);
    else judge.hurry(leader, ticket);
  }
}
