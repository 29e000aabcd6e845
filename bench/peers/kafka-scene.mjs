// Owns what Kafka's part of the experiments is played on: a mock broker that speaks the protocol,
// and kafkajs, an ordinary client, as producer and as consumers of groups.

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import kafkajs from 'kafkajs';
import { scratch } from '../../dist/bench/machine.js';

const { AssignerProtocol, Kafka, logLevel, Partitioners } = kafkajs;

export const SESSION_MS = 3_000;

/** A broker with these topics, for as long as `play` runs. */
async function withBroker(topics, play) {
  const directory = scratch('mock-kafka');
  const program = join(directory, 'mock-kafka');
  const source = fileURLToPath(new URL('mock-kafka.c', import.meta.url));
  execFileSync('cc', ['-o', program, source, '-lrdkafka']);
  const args = Object.entries(topics).flatMap(([topic, partitions]) => [topic, `${partitions}`]);
  const broker = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(broker, 'exit');
  try {
    const [address] = await once(broker.stdout, 'data');
    return await play(new Scene(String(address).trim().split(',')));
  } finally {
    broker.stdin.end();
    await ended;
    rmSync(directory, { recursive: true });
  }
}

/**
 * Round robin as kafkajs has it, but naming also the members that get nothing: the mock broker lets
 * only those into the group that are named. Kafka itself does not need it.
 */
const sharing = ({ cluster }) => ({
  name: 'RoundRobinAssigner',
  version: 0,
  async assign({ members, topics }) {
    const sorted = members.map(({ memberId }) => memberId).sort();
    const shares = new Map(sorted.map((memberId) => [memberId, {}]));
    const all = topics.flatMap((topic) =>
      cluster.findTopicPartitionMetadata(topic).map(({ partitionId }) => [topic, partitionId]),
    );
    for (const [index, [topic, partition]] of all.entries()) {
      const share = shares.get(sorted[index % sorted.length]);
      share[topic] = [...(share[topic] ?? []), partition];
    }
    return sorted.map((memberId) => ({
      memberId,
      memberAssignment: AssignerProtocol.MemberAssignment.encode({
        version: 0,
        assignment: shares.get(memberId),
        userData: Buffer.alloc(0),
      }),
    }));
  },
  protocol: ({ topics }) => ({
    name: 'RoundRobinAssigner',
    metadata: AssignerProtocol.MemberMetadata.encode({
      version: 0,
      topics,
      userData: Buffer.alloc(0),
    }),
  }),
});

class Scene {
  lines = [];
  #began = performance.now();
  #members = [];

  constructor(brokers) {
    this.kafka = new Kafka({ brokers, logLevel: logLevel.NOTHING });
  }

  tell(text) {
    this.lines.push(`  ${text}`);
  }

  /** With seconds since the newest `clock`. */
  at(text) {
    const seconds = ((performance.now() - this.#began) / 1_000).toFixed(1);
    this.tell(`${seconds.padStart(4)} s  ${text}`);
  }

  clock() {
    this.#began = performance.now();
  }

  async produce(topic, values, headers = {}) {
    this.producer ??= this.kafka.producer({
      createPartitioner: Partitioners.DefaultPartitioner,
    });
    await this.producer.connect();
    const messages = values.map((value) => ({ value, partition: 0, headers }));
    await this.producer.send({ topic, messages });
  }

  /** Consumers of a group, each doing `work` with a message; ready when all have joined. */
  async join(group, topic, names, work, options = {}) {
    const assigned = new Map();
    // All within the broker's first delay, so that the group comes together in one round.
    const start = async (name) => {
      const consumer = this.kafka.consumer({
        groupId: group,
        partitionAssigners: [sharing],
        sessionTimeout: SESSION_MS,
        heartbeatInterval: 300,
        rebalanceTimeout: 2_000,
        maxWaitTimeInMs: 100,
        ...options,
      });
      this.#members.push(consumer);
      consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
        assigned.set(name, payload.memberAssignment[topic] ?? []);
      });
      await consumer.connect();
      await consumer.subscribe({ topic, fromBeginning: true });
      await consumer.run({
        autoCommit: false,
        eachMessage: ({ partition, message, heartbeat }) =>
          work({ name, consumer, partition, message, heartbeat }),
      });
    };
    await Promise.all(names.map(start));
    const shared = () => names.every((name) => assigned.has(name)) && whole(assigned);
    for (const until = performance.now() + 30_000; !shared(); await pause(50)) {
      if (performance.now() > until) throw new Error(`${group} did not come together`);
    }
    return assigned;
  }

  async commit(consumer, topic, partition, offset) {
    const next = String(Number(offset) + 1);
    await consumer.commitOffsets([{ topic, partition, offset: next }]);
  }

  async standing(group, topic) {
    const admin = this.kafka.admin();
    await admin.connect();
    const [{ partitions }] = await admin.fetchOffsets({ groupId: group, topics: [topic] });
    const [{ high }] = await admin.fetchTopicOffsets(topic);
    await admin.disconnect();
    const committed = Math.max(0, Number(partitions[0].offset));
    return `committed up to ${committed} of ${high}: lag ${Number(high) - committed}`;
  }

  async leave() {
    await Promise.allSettled(this.#members.map((consumer) => consumer.disconnect()));
    await this.producer?.disconnect();
  }
}

/** Whether no partition is given to two members, as it is while a group comes together. */
function whole(assigned) {
  const all = [...assigned.values()].flat();
  return all.length > 0 && new Set(all).size === all.length;
}

/** @returns the lines that were told. */
export const play = (topics, act) =>
  withBroker(topics, async (scene) => {
    try {
      await act(scene);
    } finally {
      await scene.leave();
    }
    return scene.lines;
  });
