// Owns two nodes over a real etcd for a proof with faults: each reaches etcd and is reached by its
// clients over ways that can fall silent, the second one's wall clock can be set, and one that
// ended is started again, as a service manager does.

import { ClusterStage } from '../e2e/cluster-stage.ts';
import { type Lost, SilentProxy } from '../e2e/silent-proxy.ts';
import type { EtcdCluster } from '../support/etcd-cluster.ts';
import type { Fields } from '../support/server.ts';
import { untilNextLook } from '../support/waiting.ts';
import { MovedClock } from './moved-clock.ts';

export const NODES = ['a', 'b'] as const;
export type NodeName = (typeof NODES)[number];

interface Whole {
  readonly leader: NodeName;
  readonly follower: NodeName;
  /** Number of the CoordinatorStarted with which the leader began. */
  readonly epoch: number;
}

/** Far longer than all that a fault may take: a busy neighbour may hold everything up. */
const PATIENCE_MS = 60_000;
const VIEW_MS = 1_000;

interface Ways {
  readonly etcd: readonly SilentProxy[];
  readonly clients: SilentProxy;
}

export class NodesRig {
  readonly etcd: EtcdCluster;
  readonly stage: ClusterStage;
  /** Of the second node. */
  readonly clock: MovedClock;
  /** Ends of nodes that nobody caused. */
  readonly wrong: string[] = [];
  private readonly ways: Record<NodeName, Ways>;
  private readonly args: readonly string[];
  private isOver = false;

  private constructor(
    etcd: EtcdCluster,
    stage: ClusterStage,
    ways: Record<NodeName, Ways>,
    args: readonly string[],
  ) {
    this.etcd = etcd;
    this.stage = stage;
    this.clock = new MovedClock(stage.dir);
    this.ways = ways;
    this.args = args;
  }

  /** @param args of `cluster init` and of each node */
  static async open(etcd: EtcdCluster, args: readonly string[]): Promise<NodesRig> {
    const stage = await ClusterStage.open(etcd, NODES, false);
    const { code, err } = await stage.run('init', ...args);
    if (code !== 0) throw new Error(err);
    const waysOf = async (node: NodeName): Promise<Ways> => ({
      etcd: await Promise.all(etcd.urls.map((url) => SilentProxy.before(url))),
      clients: await SilentProxy.before(stage.url(node)),
    });
    const ways = { a: await waysOf('a'), b: await waysOf('b') };
    const rig = new NodesRig(etcd, stage, ways, args);
    for (const node of NODES) void rig.keep(node);
    await rig.whole();
    return rig;
  }

  /** Where clients reach the nodes. */
  get ports(): number[] {
    return NODES.map((node) => Number(new URL(this.ways[node].clients.url).port));
  }

  /** Nobody starts a node again after this. */
  over(): void {
    this.isOver = true;
  }

  async close(): Promise<void> {
    this.over();
    await this.stage.close();
    for (const { etcd, clients } of Object.values(this.ways)) {
      await Promise.all([...etcd, clients].map((proxy) => proxy.close()));
    }
  }

  /** @param lost undefined: nothing any more */
  cutFromEtcd(node: NodeName, lost: Lost | undefined): void {
    for (const proxy of this.ways[node].etcd) proxy.silence(lost);
  }

  cutFromClients(node: NodeName, lost: Lost | undefined): void {
    this.ways[node].clients.silence(lost);
  }

  /**
   * Resolves when some node leads that began after this epoch. It may be the one that led before:
   * started again, it can be the first to see that nobody leads.
   */
  async leadsSince(epoch: number): Promise<void> {
    await this.until(`a node leads after the start ${epoch}`, async () => {
      const views = await this.views();
      return views.some((view) => view['role'] === 'leader' && Number(view['epoch']) > epoch);
    });
  }

  /**
   * Resolves when one node leads and the other one follows that very lead. A node that still names
   * the leader of before, or is about to lead, does not count: what it says is over in a moment.
   */
  async whole(): Promise<Whole> {
    let whole: Whole | undefined;
    await this.until('one node leads and the other one follows', async () => {
      const views = await this.views();
      const leading = views.findIndex(({ role }) => role === 'leader');
      const [leader, follower] = leading === 0 ? NODES : NODES.toReversed();
      const view = views[1 - leading];
      const epoch = Number(views[leading]?.['epoch']);
      const named = view?.['leader'] as Fields | undefined;
      const isFollowed = named?.['node'] === leader && view?.['epoch'] === epoch;
      const isWell = view?.['role'] === 'follower' && view['trouble'] === undefined;
      if (!isFollowed || !isWell || !(Number(view['last_sequence']) >= epoch)) return false;
      whole = { leader, follower, epoch };
      return true;
    });
    return whole as Whole;
  }

  private async keep(node: NodeName): Promise<void> {
    const env = {
      LEASEHOLD_ETCD: this.ways[node].etcd.map(({ url }) => url).join(),
      ...(node === 'b' ? this.clock.env : {}),
    };
    while (!this.isOver) {
      const server = this.stage.start(node, this.args, env);
      const { code, signal } = await server.ended;
      const isDeposed = code === 1 && server.err.includes('NOT_LEADER');
      if (this.isOver || isDeposed || signal === 'SIGKILL' || code === 0) continue;
      this.wrong.push(`${node} ended by ${code ?? signal}: ${server.err.slice(-2_000)}`);
    }
  }

  private views(): Promise<Fields[]> {
    return Promise.all(NODES.map((node) => this.view(node)));
  }

  /** @returns nothing of a node that does not answer. */
  private async view(node: NodeName): Promise<Fields> {
    try {
      const signal = AbortSignal.timeout(VIEW_MS);
      const response = await fetch(`${this.stage.url(node)}/v1/cluster`, { signal });
      return (await response.json()) as Fields;
    } catch {
      return {};
    }
  }

  private async until(what: string, look: () => Promise<boolean>): Promise<void> {
    const end = performance.now() + PATIENCE_MS;
    for (let looks = 0; !(await look()); looks += 1) {
      if (performance.now() > end) {
        const said = NODES.map((node) => {
          const { err, out } = this.stage.node(node);
          return `${node}: ${err}\n${out.slice(-1_500)}`;
        });
        throw new Error(`not in time: ${what}\n${said.join('\n')}`);
      }
      await untilNextLook(looks);
    }
  }
}
