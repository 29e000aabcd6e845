// How the actor around the loop goes on: nothing that stands in the mailbox is passed over, and
// what has gathered goes on its way whatever became of the group before it, although nothing comes.

import { expect } from 'chai';
import { CoordinatorActor } from '../../actors/coordinator/coordinator-actor.ts';
import type { Store, StoredLog } from '../../actors/coordinator/store.ts';
import { clock } from '../../actors/shared/clock.ts';
import type { CoordinatorData } from '../../actors/shared/control.ts';
import { watchLag } from '../../actors/shared/event-loop-lag.ts';
import { Progress } from '../../actors/shared/progress.ts';
import { SLICE_ROWS } from '../../src/core/queue-list.ts';
import { encodeRecord } from '../../src/log/codec.ts';
import { MemoryLog } from '../../src/log/memory-log.ts';
import { createMailbox } from '../../src/mailbox/mailbox.ts';
import { Producer } from '../../src/mailbox/producer.ts';
import type { LogRecord } from '../../src/model/records.ts';
import type { Request } from '../../src/model/request.ts';
import { decodeAnswer } from '../../src/protocol/answer-frame.ts';
import { encodeRequest } from '../../src/protocol/request-codec.ts';
import { KNOBS, leaseRequest } from '../support/world.ts';

const MIB = 1024 * 1024;
const TURNS = 20;

const turns = async (count = TURNS): Promise<void> => {
  for (let n = 0; n < count; n += 1) await new Promise((resolve) => setImmediate(resolve));
};

/** Commits within the call, as the log of one machine does. */
class LogAtOnce extends MemoryLog {
  override append(records: readonly LogRecord[]): 'durable' {
    const first = records[0]?.seq ?? 0;
    this.store.commit(first, first, records.map(encodeRecord));
    this.lastNumber = this.store.last;
    return 'durable';
  }
}

class Stage {
  readonly log: MemoryLog;
  /** Of each request that was answered, by its ticket: the answer's status. */
  readonly statuses = new Map<number, number>();
  readonly #progress = new Progress(Progress.share());
  readonly #lag = watchLag('coordinator');
  readonly mailbox = createMailbox({ maxRequests: 65_536, maxBytes: 64 * MIB });
  readonly #actor: CoordinatorActor;
  readonly #producers: Readonly<Record<'one' | 'another', Producer<number>>>;
  readonly #timer: Producer<number>;
  #tickets = 0;

  constructor(leaseDurationMs: number, log = new MemoryLog({ isShared: true, manual: true })) {
    this.log = log;
    const data = {
      dataDir: '/nowhere',
      core: { ...KNOBS, leaseDurationMs, heartbeatIntervalMs: 1 },
      tickMs: 1,
      acceptClock: true,
    } as CoordinatorData;
    const store = {
      log: Object.assign(this.log, { created: true, trouble: undefined }) as StoredLog,
      leading: () => {},
      ending: (error: unknown) => ({ told: error }),
      abandon: () => {},
      close: () => this.log.close(),
    } as unknown as Store;
    this.#actor = new CoordinatorActor(
      store,
      {},
      {
        data,
        progress: this.#progress,
        lag: this.#lag,
        say: () => {},
        die: (error) => {
          throw error;
        },
      },
    );
    const one = this.#connect('one');
    this.#timer = this.#connect('timer', true);
    this.#producers = { one, another: this.#connect('another') };
  }

  #connect(name: string, exempt = false): Producer<number> {
    const { producer, consumer } = this.mailbox.connect(name, { exempt });
    this.#actor.attach(consumer);
    return new Producer<number>(producer, {
      onReply: (ticket, { bytes, from, to }) => {
        if (!exempt) this.statuses.set(ticket, decodeAnswer(bytes, from, to).status);
      },
      onDeath: () => {},
    });
  }

  async start(): Promise<void> {
    const started = this.#actor.start();
    this.log.settle();
    await started;
    await this.settleAll();
  }

  ask(request: Request, from: 'one' | 'another' = 'one'): number {
    this.#tickets += 1;
    const bytes = encodeRequest(request);
    const isTaken = this.#producers[from].offer(this.#tickets, 'request', bytes, this.#tickets);
    expect(isTaken).to.equal(true);
    return this.#tickets;
  }

  /** Larger than a batch, so that it leaves at once, as the requests of full batches do. */
  tick(): void {
    this.#timer.offer(0, 'request', new Uint8Array(20_000), 0);
  }

  /** Nothing comes, and nothing ticks: only what is under way ends. @returns commits and such. */
  async settleAll(outcome: 'durable' | 'failed' = 'durable'): Promise<number> {
    let ended = 0;
    for (await turns(); this.log.pending; await turns()) {
      this.log.settle(outcome);
      ended += 1;
    }
    return ended;
  }

  async stop(): Promise<void> {
    const stopping = this.#actor.stop();
    await this.settleAll();
    await stopping;
    for (const one of [...Object.values(this.#producers), this.#timer]) one.close();
    this.#lag.stop();
  }
}

const read: Request = { op: 'task', taskId: 2, waitMs: 0, base64: false };
const submit = (bytes: number, queue = 'default'): Request => ({
  op: 'submit',
  queue,
  payload: new Uint8Array(bytes),
});

describe('the coordinator actor', () => {
  let stage: Stage;
  afterEach(() => stage.stop());

  it('expires all that is due, group after group, although no tick comes', async () => {
    const leaseMs = 20;
    stage = new Stage(leaseMs);
    await stage.start();
    for (let n = 0; n < 1_200; n += 1) stage.ask(submit(1));
    await stage.settleAll();
    for (let n = 0; n < 3; n += 1) stage.ask(leaseRequest({ max: 400 }));
    await stage.settleAll();
    for (const granted = clock.monotonic(); clock.monotonic() <= granted + leaseMs; ) await turns();
    stage.ask(read);
    await stage.settleAll();
    const types = [...stage.log.read(1)].map(({ type }) => type);
    const countOf = (type: string): number => types.filter((one) => one === type).length;
    expect(countOf('LeaseExpired')).to.equal(countOf('LeaseGranted')).and.at.least(1_200);
  });

  it('takes what the mailbox held back, also when the confirmation before it fails', async () => {
    stage = new Stage(10_000);
    await stage.start();
    stage.ask(submit(9 * MIB));
    await stage.settleAll();
    const first = stage.ask(read);
    await turns();
    expect(stage.log.pending, 'is being confirmed').to.equal(true);
    const behind = [stage.ask(read), stage.ask(read)];
    await turns();
    const held = stage.ask(read);
    await turns();
    await stage.settleAll('failed');
    const statuses = [first, ...behind, held].map((ticket) => stage.statuses.get(ticket));
    expect(statuses).to.deep.equal([503, 503, 503, 503]);
  });

  it('answers all that stood in line behind a tick that wrote a group', async () => {
    stage = new Stage(10_000, new LogAtOnce({ manual: true }));
    await stage.start();
    // The tick comes to stand between two threads' requests, more than are taken at once.
    for (const from of ['one', 'another'] as const) {
      for (let n = 0; n < 3_000; n += 1) stage.ask(submit(1), from);
    }
    stage.tick();
    await stage.settleAll();
    expect(stage.statuses.size).to.equal(6_000);
    expect(stage.mailbox.depth()).to.deep.equal({ requests: 0, bytes: 0 });
  });

  it('goes on with a long list that was asked for while the log was read again', async () => {
    stage = new Stage(10_000);
    await stage.start();
    for (let n = 0; n <= SLICE_ROWS; n += 1) stage.ask(submit(1, `q${n}`));
    await stage.settleAll();
    stage.ask(submit(1));
    await turns();
    stage.log.settle('failed');
    await turns();
    expect(stage.log.pending, 'becomes the writer again').to.equal(true);
    const list = stage.ask({ op: 'queues', limit: 1 });
    await stage.settleAll();
    expect(stage.statuses.get(list)).to.equal(200);
  });
});
