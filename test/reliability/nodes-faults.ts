// Owns what goes wrong between several nodes, one thing at a time. Each ends when the cause is
// gone; what the nodes make of it, the proof waits for.

import { setTimeout as pause } from 'node:timers/promises';
import type { Lost } from '../e2e/silent-proxy.ts';
import type { Random } from '../simulator/random.ts';
import type { NodesRig } from './nodes-rig.ts';

/** @returns whether a node has begun to lead since. */
type Fault = (rig: NodesRig, dice: Random) => Promise<boolean>;

const HOUR_MS = 3_600_000;
const LOST = ['all', 'requests', 'answers'] as const;

export const NODE_FAULTS: Readonly<Record<string, Fault>> = {
  async 'the leader is killed'(rig) {
    const { leader, epoch } = await rig.whole();
    rig.stage.node(leader).kill('SIGKILL');
    await rig.leadsSince(epoch);
    return true;
  },

  async 'the leader sleeps until another one leads'(rig, dice) {
    const { leader, epoch } = await rig.whole();
    const server = rig.stage.node(leader);
    server.kill('SIGSTOP');
    await rig.leadsSince(epoch);
    // Readers that know no other node ask the one that sleeps.
    await pause(dice.between(300, 1_500));
    server.kill('SIGCONT');
    await server.ended;
    return true;
  },

  async 'the leader sleeps shortly'(rig, dice) {
    const server = rig.stage.node((await rig.whole()).leader);
    server.kill('SIGSTOP');
    await pause(dice.between(100, 2_500));
    server.kill('SIGCONT');
    return false;
  },

  async 'the leader is cut off from etcd'(rig, dice) {
    return replacedWithout('all', rig, dice);
  },

  /** etcd carries out what the leader then learns nothing of. */
  async 'the leader does not hear etcd'(rig, dice) {
    return replacedWithout('answers', rig, dice);
  },

  async 'etcd does not hear the leader'(rig, dice) {
    return replacedWithout('requests', rig, dice);
  },

  async 'the follower is cut off from etcd'(rig, dice) {
    const { follower } = await rig.whole();
    rig.cutFromEtcd(follower, dice.pick(LOST));
    await pause(dice.between(500, 3_000));
    rig.cutFromEtcd(follower, undefined);
    return false;
  },

  async 'clients are cut off from the leader'(rig, dice) {
    const { leader } = await rig.whole();
    rig.cutFromClients(leader, dice.pick(LOST));
    await pause(dice.between(500, 2_500));
    rig.cutFromClients(leader, undefined);
    return false;
  },

  async 'the leader is told to stop'(rig) {
    const { leader, epoch } = await rig.whole();
    rig.stage.node(leader).kill('SIGTERM');
    await rig.leadsSince(epoch);
    return true;
  },

  async 'a member of etcd that follows is killed'(rig, dice) {
    const member = ((await rig.etcd.leader()) + dice.between(1, 2)) % 3;
    await rig.etcd.kill(member);
    await pause(dice.between(200, 1_500));
    await rig.etcd.restart(member);
    return false;
  },

  async "etcd's leader is killed"(rig, dice) {
    const member = Math.max(0, await rig.etcd.leader());
    await rig.etcd.kill(member);
    await pause(dice.between(500, 2_000));
    await rig.etcd.restart(member);
    return false;
  },

  async "the leader and etcd's leader are killed at once"(rig) {
    const { leader, epoch } = await rig.whole();
    const member = Math.max(0, await rig.etcd.leader());
    rig.stage.node(leader).kill('SIGKILL');
    await rig.etcd.kill(member);
    await rig.leadsSince(epoch);
    await rig.etcd.restart(member);
    return true;
  },

  async 'the majority of etcd is away'(rig, dice) {
    const members = [dice.below(3)];
    members.push(((members[0] as number) + dice.between(1, 2)) % 3);
    for (const member of members) await rig.etcd.kill(member);
    await pause(dice.between(1_000, 5_000));
    await Promise.all(members.map((member) => rig.etcd.restart(member)));
    return false;
  },

  async 'a wall clock is set by an hour, and the leader is killed'(rig, dice) {
    rig.clock.move(rig.clock.aheadMs > 0 || dice.chance(0.5) ? -HOUR_MS : HOUR_MS);
    const { leader, epoch } = await rig.whole();
    rig.stage.node(leader).kill('SIGKILL');
    await rig.leadsSince(epoch);
    return true;
  },
};

/** Another node leads in place of one between which and etcd something is lost. */
async function replacedWithout(lost: Lost, rig: NodesRig, dice: Random): Promise<boolean> {
  const { leader, epoch } = await rig.whole();
  const server = rig.stage.node(leader);
  rig.cutFromEtcd(leader, lost);
  await rig.leadsSince(epoch);
  await pause(dice.between(300, 1_500));
  rig.cutFromEtcd(leader, undefined);
  await server.ended;
  return true;
}
