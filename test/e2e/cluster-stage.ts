// Owns a cluster of real nodes over a real etcd for one test: processes that are started, killed
// and asked, clients that remember every answer, and the comparison of what the nodes hold
// afterwards.

import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { Client } from '../../src/index.ts';
import { encodeRecord } from '../../src/log/codec.ts';
import { openEtcd } from '../../src/log/etcd/grpc-etcd.ts';
import { encodeHead } from '../../src/log/etcd/head.ts';
import { keysOf, prefixEnd } from '../../src/log/etcd/keys.ts';
import { openLmdbReader } from '../../src/log/lmdb-reader.ts';
import { ServerProcess } from '../../src/play/demo/processes.ts';
import { command, type Ran } from '../support/command.ts';
import type { EtcdCluster } from '../support/etcd-cluster.ts';
import { ownPort } from '../support/own-port.ts';
import { cleanEnv, type Fields } from '../support/server.ts';
import { sized } from '../support/tier.ts';
import { untilNextLook } from '../support/waiting.ts';

/** Far longer than any failover: a busy neighbour may hold everything up. */
const PATIENCE_MS = 60_000;
/**
 * Between two submits of a client. As fast as it can, a load would take both processors from what
 * it waits for: a node that starts, or takes over.
 */
const PACE_MS = 25;
/** As fast as it can; a short round is no load. */
export const NO_PAUSE_MS = sized(0, 10);
let stages = 0;
let loads = 0;

export class ClusterStage {
  readonly dir: string;
  readonly name: string;
  readonly etcd: readonly string[];
  private readonly nodes = new Map<string, ServerProcess>();
  private readonly ports = new Map<string, number>();
  private readonly processes: ServerProcess[] = [];
  private alonePort = 0;

  private constructor(dir: string, name: string, etcd: readonly string[]) {
    this.dir = dir;
    this.name = name;
    this.etcd = etcd;
  }

  /** A cluster of its own in this etcd, with these nodes. */
  static async open(
    etcd: Pick<EtcdCluster, 'urls'>,
    nodes: readonly string[] = ['a', 'b'],
    init = true,
  ): Promise<ClusterStage> {
    const dir = await mkdtemp(path.join(os.tmpdir(), 'leasehold-nodes-'));
    stages += 1;
    const stage = new ClusterStage(dir, `test-${process.pid}-${stages}`, etcd.urls);
    for (const node of nodes) stage.ports.set(node, await ownPort());
    stage.alonePort = await ownPort();
    if (init) expect((await stage.run('init')).code).to.equal(0);
    for (const node of init ? nodes : []) stage.start(node);
    return stage;
  }

  async close(): Promise<void> {
    await Promise.all(this.processes.splice(0).map((each) => each.destroy()));
    await rm(this.dir, { recursive: true, force: true });
  }

  get env(): NodeJS.ProcessEnv {
    const etcd = { LEASEHOLD_ETCD: this.etcd.join(), LEASEHOLD_CLUSTER_NAME: this.name };
    return cleanEnv({ ...etcd, LEASEHOLD_RETENTION_MS: '0', LEASEHOLD_ETCD_CALL_MS: '1000' });
  }

  /** Of all nodes, also those that do not run. */
  get urls(): string[] {
    return [...this.ports.values()].map((port) => `http://127.0.0.1:${port}`);
  }

  url(node: string): string {
    return `http://127.0.0.1:${this.ports.get(node)}`;
  }

  dataDir(node: string): string {
    return path.join(this.dir, node);
  }

  node(name: string): ServerProcess {
    return this.nodes.get(name) as ServerProcess;
  }

  start(name: string, args: readonly string[] = [], env: NodeJS.ProcessEnv = {}): ServerProcess {
    const names = ['--node-name', name, '--advertise-url', this.url(name)];
    const server = new ServerProcess({
      dataDir: this.dataDir(name),
      port: this.ports.get(name) as number,
      args: [...names, ...args],
      env: { ...this.env, ...env },
    });
    this.nodes.set(name, server);
    this.processes.push(server);
    return server;
  }

  /** A server without a cluster, on a port of its own. */
  startAlone(dataDir: string): ServerProcess {
    const port = this.alonePort;
    const server = new ServerProcess({ dataDir, port, env: cleanEnv() });
    this.processes.push(server);
    return server;
  }

  /** As if an operator had restored an old snapshot: head is what it was at the beginning. */
  async setBack(): Promise<void> {
    const keys = keysOf(this.name);
    const etcd = openEtcd({ urls: this.etcd, callMs: 5_000 });
    const head = { epoch: 0, last: 0, check: 0, writer: '' };
    await etcd.txn(
      [],
      [
        { put: keys.head, value: encodeHead(head) },
        { remove: keys.groups, end: prefixEnd(keys.groups) },
        { remove: keys.chunks, end: prefixEnd(keys.chunks) },
      ],
    );
    etcd.close();
  }

  /** `leasehold cluster …` */
  async run(...args: readonly string[]): Promise<Ran> {
    return this.command('cluster', ...args);
  }

  async command(...args: readonly string[]): Promise<Ran> {
    return command(args, { env: this.env });
  }

  /** @returns undefined when nobody answers. */
  async ask(node: string, route: string, body?: unknown): Promise<Answered | undefined> {
    try {
      const response = await fetch(this.url(node) + route, {
        signal: AbortSignal.timeout(PATIENCE_MS),
        ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      });
      return { status: response.status, body: (await response.json()) as Fields };
    } catch {
      return undefined;
    }
  }

  /** Resolves with the node that decides requests. */
  async leader(not?: string): Promise<string> {
    return this.until('a node leads', async () => {
      for (const [name, server] of this.nodes) {
        if (name === not || server.over !== undefined) continue;
        if ((await this.ask(name, '/readyz'))?.status === 200) return name;
      }
      return undefined;
    });
  }

  /** All nodes run, one of them leads, and the others lack nothing. */
  async sound(): Promise<void> {
    for (const [name, { over }] of this.nodes) if (over !== undefined) this.start(name);
    const leader = await this.leader();
    for (const name of this.nodes.keys()) if (name !== leader) await this.follows(name);
  }

  /** Resolves when this node follows and lacks nothing. */
  async follows(node: string): Promise<Fields> {
    return this.until(`${node} follows`, async () => {
      const body = (await this.ask(node, '/v1/cluster'))?.body;
      const isAtEnd = body?.['role'] === 'follower' && body['lag'] === 0 && body['leader'];
      return isAtEnd && Number(body?.['last_sequence']) > 0 ? body : undefined;
    });
  }

  async until<T>(what: string, look: () => Promise<T | undefined> | T | undefined): Promise<T> {
    const end = performance.now() + PATIENCE_MS;
    for (let looks = 0; ; looks += 1) {
      const found = await look();
      if (found !== undefined && found !== false) return found;
      const said = [...this.nodes].map(
        ([name, { out, err }]) => `${name}: ${err || out.slice(-900)}`,
      );
      if (performance.now() > end) throw new Error(`not in time: ${what}\n${said.join('\n')}`);
      await untilNextLook(looks);
    }
  }

  client(more: Partial<ConstructorParameters<typeof Client>[0]> = {}): Client {
    const patient = { timeoutMs: 2_000, retries: 500, backoffMs: 20, backoffMaxMs: 200 };
    return new Client({ url: this.urls, ...patient, ...more });
  }

  /** Stops the nodes, and checks that all hold the same log, and that it is sound. */
  async compared(): Promise<Fields[]> {
    for (const server of this.nodes.values()) server.kill('SIGTERM');
    for (const server of this.nodes.values()) await server.ended;
    const logs: string[][] = [];
    let records: Fields[] = [];
    for (const node of this.nodes.keys()) {
      expect((await this.command('verify', '--data-dir', this.dataDir(node))).code).to.equal(0);
      const log = await openLmdbReader(this.dataDir(node));
      const all = [...log.read(1)];
      await log.close();
      logs.push(all.map((record) => `${record.seq} ${digestOf(encodeRecord(record))}`));
      if (all.length > records.length) records = all as unknown as Fields[];
    }
    const shortest = Math.min(...logs.map(({ length }) => length));
    for (const log of logs.slice(1))
      expect(log.slice(0, shortest)).to.deep.equal(logs[0]?.slice(0, shortest));
    return records;
  }
}

const digestOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

export interface Answered {
  readonly status: number;
  readonly body: Fields;
}

/** Clients that submit one task after the other, and what they were answered. */
export class Submitters {
  /** Request id → task. */
  readonly acknowledged = new Map<string, string>();
  /** The longest time without any answer. */
  longestSilenceMs = 0;
  private readonly clients: readonly Client[];
  private readonly running: Promise<void>[];
  private readonly name: number;
  private readonly paceMs: number;
  private lastAt = performance.now();
  private isOver = false;

  constructor(stage: ClusterStage, count: number, paceMs = PACE_MS) {
    loads += 1;
    this.name = loads;
    this.paceMs = paceMs;
    this.clients = Array.from({ length: count }, () => stage.client());
    this.running = this.clients.map((client, i) => this.run(client, i));
  }

  async stop(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.running);
    for (const client of this.clients) client.close();
  }

  private async run(client: Client, place: number): Promise<void> {
    for (let n = 0; !this.isOver; n += 1) {
      const requestId = `${this.name}-${place}-${n}`;
      const { taskId } = await client.submit({ payload: requestId, requestId, queue: 'many' });
      this.acknowledged.set(requestId, taskId);
      const now = performance.now();
      this.longestSilenceMs = Math.max(this.longestSilenceMs, now - this.lastAt);
      this.lastAt = now;
      await pause(this.paceMs);
    }
  }
}

/** Every acknowledged submit is in the log once, as the task that was answered. */
export function expectEachOnce(records: readonly Fields[], { acknowledged }: Submitters): void {
  const made = new Map<string, string[]>();
  for (const { type, requestId, seq } of records) {
    if (type !== 'TaskCreated' || typeof requestId !== 'string') continue;
    made.set(requestId, [...(made.get(requestId) ?? []), `T${String(seq)}`]);
  }
  const wrong = [...acknowledged].filter(([id, task]) => made.get(id)?.join() !== task);
  expect(wrong).to.deep.equal([]);
  expect(acknowledged.size).to.be.greaterThan(20);
}
