// Owns a simulated cluster: machines with clocks and disks of their own, an etcd in memory, a
// faulty network to it, and processes that come, follow, lead and go. Clients and workers see one
// service; which process a request reaches is the network's whim.

import { ClusterError } from '../../../src/cluster/cluster-error.ts';
import { EtcdError } from '../../../src/log/etcd/etcd.ts';
import { encodeHead } from '../../../src/log/etcd/head.ts';
import type { CoordinatorStarted, LeaseGranted } from '../../../src/model/records.ts';
import { unavailable } from '../../../src/model/refusal.ts';
import type { Request } from '../../../src/model/request.ts';
import type { Response } from '../../../src/model/response.ts';
import { FaultyNetwork, NO_TROUBLES } from '../../support/etcd/faulty-network.ts';
import { MemoryEtcd } from '../../support/etcd/memory-etcd.ts';
import { Violation } from '../checkers/violation.ts';
import { Events } from '../events.ts';
import type { Model } from '../model/model.ts';
import { Random } from '../random.ts';
import type { Troubles } from '../settings.ts';
import type { Stage } from '../stage.ts';
import { Transcript } from '../transcript.ts';
import { settled, turn } from '../turn.ts';
import { Agreed } from './agreed.ts';
import { BEAT_MS, Hearing, sendBeat } from './hearing.ts';
import { Judge } from './judge.ts';
import { KEYS, PREFIX } from './layout.ts';
import { Machine } from './machine.ts';
import { Member } from './member.ts';
import { MirrorStore } from './mirror.ts';
import { openLog } from './open-log.ts';
import { ProductNode } from './product-node.ts';
import type { ClusterSettings, ClusterTroubles } from './settings.ts';
import { Trimming } from './trimming.ts';

const TICK_MS = 50;
const CALL_MS = 200;
const SILENCE_MS = 1_500;
const DOUBTS = 40;
/** Steps to a turn of the real loop, for which a node waits that copies much. */
const STEPS_A_TURN = 50;
const DAY_MS = 86_400_000;

export class Cluster implements Stage {
  readonly events = new Events();
  readonly transcript = new Transcript();
  readonly etcd = new MemoryEtcd();
  readonly agreed: Agreed;
  readonly judge: Judge;
  readonly settings: ClusterSettings;
  readonly machines: readonly Machine[];
  troubles: Troubles;
  cluster: ClusterTroubles;
  isCalm = false;
  onAnswer: (ticket: number, response: Response) => void = () => {};
  onCrash: () => void = () => {};
  readonly dice: Random;
  private readonly trimming: Trimming;
  private readonly touched = new Set<Member>();
  private tickets = 0;
  private leases = 1_000_000;
  private members = 0;
  private steps = 0;

  constructor(settings: ClusterSettings) {
    this.settings = settings;
    this.troubles = settings.troubles;
    this.cluster = settings.cluster;
    this.dice = new Random(settings.seed, 'cluster');
    this.agreed = new Agreed(this.etcd, PREFIX);
    this.judge = new Judge(this.agreed, settings.knobs, this.transcript);
    this.judge.onAnswer = (ticket, response) => this.onAnswer(ticket, response);
    this.trimming = new Trimming(this);
    const value = encodeHead({ epoch: 0, last: 0, check: 0, writer: '' });
    this.etcd.txn([], [{ put: KEYS.head, value }]);
    this.machines = Array.from({ length: settings.machines }, (_, n) => {
      const name = `n${n}`;
      const ppm = this.dice.between(-500, 500);
      const wall = this.dice.pick([0, 1, -1]) * this.dice.below(DAY_MS);
      return new Machine(name, this.events, new MirrorStore(name, this.agreed), ppm, wall);
    });
    for (const machine of this.machines) this.run(machine);
    this.events.after(TICK_MS, this.tick);
  }

  get model(): Model {
    return this.judge.model;
  }

  get records(): number {
    return this.judge.written;
  }

  get store(): { readonly last: number } {
    return this.agreed;
  }

  get timeJumps(): number {
    return this.judge.timeJumps;
  }

  set onGrant(told: (record: LeaseGranted) => void) {
    this.judge.onGrant = told;
  }

  /** Two clocks, each up to 500 ppm wrong, and what a takeover rounds. */
  driftMs(ms: number): number {
    return 0.002 * ms + 5;
  }

  now(): number {
    const { leader } = this.judge;
    return leader === undefined ? 0 : this.judge.now(leader);
  }

  newTicket(): number {
    this.tickets += 1;
    return this.tickets;
  }

  take(ticket: number, request: Request): void {
    const member = this.reached();
    this.transcript.add(this.now(), `request to ${member?.name}`, ticket, request);
    if (member === undefined) {
      this.onAnswer(ticket, unavailable('recovering', 'nobody leads here'));
      return;
    }
    this.judge.take(member, ticket, request);
    this.touched.add(member);
  }

  flush(): void {
    for (const member of this.touched) if (member.runsLoop) this.judge.flush(member);
    this.touched.clear();
  }

  /** One event, and everything that follows of itself. */
  async step(): Promise<void> {
    const event = this.events.next();
    if (event === undefined) throw new Violation('liveness', 'nothing will ever happen again');
    await event();
    this.steps += 1;
    await (this.steps % STEPS_A_TURN === 0 ? turn() : settled());
    for (const { member } of this.machines) if (member !== undefined) this.look(member);
    if (this.agreed.violation !== undefined) throw this.agreed.violation;
  }

  pass(ms: number): void {
    this.transcript.add(this.now(), `${ms} ms pass`);
    this.events.now += ms;
  }

  /** A new process on this machine. */
  run(machine: Machine): void {
    if (machine.member !== undefined) return;
    this.members += 1;
    const name = `${machine.name}#${this.members}`;
    const network = new FaultyNetwork({
      etcd: this.etcd,
      scheduler: this.events,
      dice: new Random(this.settings.seed, `network of ${name}`),
      troubles: () => (this.isCalm ? NO_TROUBLES : this.settings.etcd),
      delays: this.settings.etcdDelays,
      callMs: CALL_MS,
      sender: name,
    });
    const member = new Member(name, machine, network, {
      starts: (one, record) => this.starts(one, record),
      toldDurable: (one, seq) => this.toldDurable(one, seq),
      durable: () => this.agreed.last,
    });
    machine.member = member;
    this.transcript.add(this.now(), `${name} runs`);
    if (this.settings.isProduct) {
      member.product = new ProductNode(this, member, () => this.newLease());
      void this.follows(member, member.product);
      return;
    }
    this.trimming.report(member);
    const hearing = new Hearing(member, this.events, this.agreed, PREFIX);
    this.beat(member);
    this.advise(member, hearing);
  }

  /** The process dies, and comes again after a while. */
  kill(machine: Machine, pauseMs: number): void {
    const { member } = machine;
    if (member === undefined) return;
    this.transcript.add(this.now(), `${member.name} dies`);
    member.kill();
    this.judge.killed(member);
    this.onCrash();
    this.events.after(pauseMs, () => this.run(machine));
  }

  /** Tries to lead, rightly or wrongly. */
  elect({ member }: Machine): void {
    // The product's nodes campaign when nobody holds the key.
    if (this.settings.isProduct) this.etcd.txn([], [{ remove: KEYS.leader }]);
    else if (member?.phase === 'following') void this.lead(member);
  }

  /** The product's own course of a node. */
  private async follows(member: Member, product: ProductNode): Promise<void> {
    const led = await product.elected().catch((error: Error) => error);
    if (member.phase === 'over' || led === undefined) return;
    if (led instanceof Error) return this.notOpened(member, led);
    this.transcript.add(this.now(), `${member.name} is elected`);
    member.lead(product.log, this.settings.knobs, led);
  }

  private newLease(): number {
    this.leases += 1;
    return this.leases;
  }

  private async lead(member: Member): Promise<void> {
    member.phase = 'catching up';
    this.transcript.add(this.now(), `${member.name} tries to lead`);
    const log = await openLog(this, member).catch((error: Error) => error);
    if ((member.phase as string) === 'over') return;
    if (log instanceof Error) return this.notOpened(member, log);
    const { machine } = member;
    const lastAt = this.agreed.record(log.lastNumber)?.at ?? 0;
    const inherited = machine.inheritedNow(this.agreed.epochOf(log.lastNumber));
    const wall = Math.floor(machine.wall());
    member.base = Math.max(inherited ?? wall, lastAt);
    member.baseMonotonicMs = machine.monotonic();
    member.usesWallClock = inherited === undefined;
    member.lead(log, this.settings.knobs);
  }

  private notOpened(member: Member, error: Error): void {
    this.transcript.add(this.now(), `${member.name}: ${error.message}`);
    const { code } = error as Error & { code?: string };
    if (error instanceof ClusterError) this.kill(member.machine, 1_000);
    else if (error instanceof EtcdError) member.phase = 'following';
    else if (code === 'LOG_BEHIND') {
      this.copyMirror(member.machine);
      this.kill(member.machine, 10);
    } else this.agreed.report(new Violation('exception', error.stack ?? error.message));
  }

  /** An operator copies another machine's mirror onto this one. */
  private copyMirror(machine: Machine): void {
    const others = this.machines.filter((one) => one !== machine);
    const fullest = others.reduce((a, b) => (a.mirror.last >= b.mirror.last ? a : b));
    machine.mirror = new MirrorStore(machine.name, this.agreed);
    machine.mirror.fill(fullest.mirror);
    machine.disk += 1;
    this.transcript.add(this.now(), `${machine.name} copies ${fullest.name}`);
  }

  /** Advice: tries when nobody is heard; and now and then the mirror follows. */
  private advise(member: Member, hearing: Hearing): void {
    const pauseMs = this.dice.pick([100, 200, 400]);
    this.events.after(pauseMs, () => {
      if (member.phase === 'over') return;
      this.advise(member, hearing);
      if (member.phase !== 'following') return;
      const isSilent = this.events.now - hearing.heardAt > SILENCE_MS;
      if (isSilent && this.dice.chance(0.3)) void this.lead(member);
      else if (this.dice.chance(0.3)) void this.follow(member);
    });
  }

  /** Brings the mirror to the end of the log, without any wish to lead. */
  private async follow(member: Member): Promise<void> {
    member.phase = 'catching up';
    const log = await openLog(this, member).catch((error: Error) => error);
    if ((member.phase as string) === 'over') return;
    if (log instanceof Error) return this.notOpened(member, log);
    member.phase = 'following';
  }

  private readonly tick = (): void => {
    this.events.after(TICK_MS, this.tick);
    this.etcd.advance(this.events.now);
    for (const { member } of this.machines) {
      if (member?.phase === 'leading') this.judge.tick(member);
    }
  };

  /** Once for each process, by a timer of its own. */
  private beat(member: Member): void {
    if (member.phase === 'over') return;
    this.events.after(BEAT_MS, () => this.beat(member));
    if (member.runsLoop) void sendBeat(member, PREFIX, member.rawNow());
  }

  private look(member: Member): void {
    if (!member.runsLoop) return;
    this.judge.wentOn(member);
    const { view } = member.loop ?? {};
    if (view?.mode === 'serving' && member.product && member.toldEpoch !== view.state.epoch) {
      member.toldEpoch = view.state.epoch;
      member.product.leads(view.state.epoch, () => view.clockOffsetMs + member.machine.wall());
    }
    if (member.fatal === undefined) return;
    const { code, message } = member.fatal as Error & { code?: string };
    this.transcript.add(this.now(), `${member.name} ends: ${message}`);
    if (code === 'LOG_BEHIND') this.copyMirror(member.machine);
    else if (code !== 'LOG_FENCED') throw new Violation('fatal', member.fatal.stack ?? message);
    // One whose start came to pass when it had given it up ends, too: it does not know its time.
    if (code === 'LOG_FENCED' && member === this.judge.leader && member.knowsItLeads) {
      throw new Violation('fencing', 'the leader was fenced');
    }
    this.kill(member.machine, this.dice.pick([10, 500, 3_000]));
  }

  private starts(member: Member, record: CoordinatorStarted): void {
    this.judge.starts(member, record);
    const { leader } = this.judge;
    if (leader === undefined || leader === member || !this.dice.chance(this.cluster.doubt)) return;
    for (let n = 0; n < DOUBTS; n += 1) this.events.after(n, () => this.ask(leader));
  }

  /** A read that nobody waits for: its answer is judged all the same. */
  private ask(member: Member): void {
    if (member.phase !== 'leading') return;
    const taskId = this.dice.below(this.agreed.last + 2);
    const request = { op: 'task', taskId, waitMs: 0, base64: false } as const;
    this.judge.take(member, this.newTicket(), request);
    this.judge.flush(member);
  }

  private toldDurable(member: Member, lastSeq: number): void {
    if (lastSeq > this.agreed.last) {
      const what = `${member.name} was told that record ${lastSeq} is durable`;
      this.agreed.report(new Violation('durability', `${what}, and etcd has ${this.agreed.last}`));
    }
    if (member.machine.mirror.last < lastSeq) {
      const what = `record ${lastSeq} is durable for ${member.name}, and not in its mirror`;
      this.agreed.report(new Violation('mirror', what));
    }
  }

  private reached(): Member | undefined {
    const { leader } = this.judge;
    const others = this.machines.flatMap(({ member }) => member ?? []);
    const member = leader?.phase === 'leading' && this.dice.chance(0.9) ? leader : undefined;
    const reached = member ?? this.dice.pick(others);
    return reached?.phase === 'leading' ? reached : undefined;
  }
}
