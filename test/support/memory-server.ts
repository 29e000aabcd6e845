// Owns a server without threads and without a disk: the real HTTP and socket servers before the
// real loop, on a log in memory and a clock that moves only when told. What it answers follows from
// what it is asked and from nothing else, so that answers can be compared byte for byte.

import { HttpServer } from '../../actors/http/http-server.ts';
import { Gate } from '../../actors/ingress/gate.ts';
import { ReaderLink } from '../../actors/ingress/reader-link.ts';
import type { HttpIngressData, SocketIngressData } from '../../actors/ingress/start-data.ts';
import { type Reading, serveReader, type Waiter } from '../../actors/reader/session.ts';
import { watchLag } from '../../actors/shared/event-loop-lag.ts';
import { FiguresHub } from '../../actors/shared/gathered-figures.ts';
import { PHASE_OF, Progress } from '../../actors/shared/progress.ts';
import { backendOf } from '../../actors/socket/socket-ingress.ts';
import { SocketServer } from '../../actors/socket/socket-server.ts';
import { planSystem } from '../../actors/supervisor/plan.ts';
import { Consumer, type MailboxSink, type Peer } from '../../src/mailbox/consumer.ts';
import { viewOf } from '../../src/mailbox/frame.ts';
import { createMailbox, type Mailbox } from '../../src/mailbox/mailbox.ts';
import { Producer } from '../../src/mailbox/producer.ts';
import { writeAnswer } from '../../src/protocol/answer-frame.ts';
import { decodeRequest } from '../../src/protocol/request-codec.ts';
import { queueNames } from '../../src/reader/queue-names.ts';
import { readSettings, type SettingSources } from '../../src/settings/settings.ts';
import { World } from './world.ts';

/** That it tells of itself. */
export const VERSION = '0.0.0';
const OPEN_MAX = 1_000;
const EVERYTHING = Number.MAX_SAFE_INTEGER;

/** Whom an answer goes to. */
interface Asker {
  readonly peer: Peer;
  readonly ticket: number;
}

export interface MemoryServerOptions {
  readonly flags?: SettingSources['flags'];
  readonly token?: string;
}

export class MemoryServer {
  readonly world: World;
  readonly progress: Progress;
  /** Requests wait in it while the coordinator sleeps. */
  readonly mailbox: Mailbox;
  url = '';
  /** host:port */
  socketAddress = '';
  readonly #consumer = new Consumer(() => this.#take());
  readonly #askers = new Map<number, Asker>();
  readonly #waiters = new Set<Waiter>();
  readonly #ports = [new MessageChannel(), new MessageChannel()] as const;
  #taken = 0;
  #waiting = 0;
  readonly #lag = watchLag('reader');
  readonly #http: HttpServer;
  readonly #gate: Gate;
  readonly #reader: ReaderLink;
  readonly #socket: SocketServer;
  readonly #socketData: Omit<SocketIngressData, 'control'>;
  /** Whether the coordinator takes no request out of the mailbox until it is woken. */
  sleeps = false;

  private constructor({ flags = {}, token }: MemoryServerOptions) {
    const env = token === undefined ? {} : { LEASEHOLD_TOKEN: token };
    const shown = { httpPort: '5327', socketPort: '5328', dataDir: './leasehold-data' } as const;
    const settings = readSettings({ flags: { ...shown, ...flags }, env, readFile: () => '' });
    const share = Progress.share();
    const plan = planSystem(settings, share, VERSION);
    const [http, socket] = plan.ingresses.map(({ data }) => data) as unknown as [
      Omit<HttpIngressData, 'control'>,
      Omit<SocketIngressData, 'control'>,
    ];
    this.progress = new Progress(share);
    this.mailbox = createMailbox(plan.coordinator.mailbox);
    this.world = new World(plan.coordinator.data.core);
    this.world.surroundings = () => ({
      mailbox: { ...this.#consumer.depth(), refused: this.#consumer.refused },
      event_loop_lag_ms: 0,
    });
    this.#http = new HttpServer({ ...http, listen: { ...http.listen, port: 0 } });
    this.#gate = new Gate(this.progress, OPEN_MAX);
    this.#reader = new ReaderLink(this.#gate, 'socket');
    this.#socket = new SocketServer(
      backendOf(socket.config, this.#gate, this.#reader, this.progress, () => this.url),
    );
    this.#socketData = socket;
  }

  static async start(options: MemoryServerOptions = {}): Promise<MemoryServer> {
    const server = new MemoryServer(options);
    await server.#start();
    return server;
  }

  /** Counts what has arrived to be answered, by the coordinator, the reader, or later. */
  get arrived(): number {
    return this.sleeps ? this.mailbox.depth().requests : this.#taken + this.#waiting;
  }

  /** Ms since the beginning; nothing is looked at yet. */
  set time(ms: number) {
    this.world.time = ms;
  }

  async wake(): Promise<void> {
    this.sleeps = false;
    this.#take();
    await this.world.settle();
  }

  async stop(): Promise<void> {
    await this.world.loop.stop();
    await this.#socket.close();
    await this.#http.stop();
    this.#gate.close();
    this.#reader.close();
    this.#consumer.close();
    this.#lag.stop();
    for (const { port1, port2 } of this.#ports) {
      port1.close();
      port2.close();
    }
  }

  /** One more that asks the coordinator, beside the two servers; answers go nowhere. */
  connectProducer(): Producer<number> {
    return new Producer(this.#connect('another'), { onReply: () => {}, onDeath: () => {} });
  }

  async #start(): Promise<void> {
    this.#hear();
    await this.world.loop.start();
    this.#http.connect(this.#connect('http'));
    this.#gate.connect(this.#connect('socket'));
    const [ofHttp, ofSocket] = this.#ports;
    const figures = new FiguresHub(() => ({ ...this.#lag.figures(), requests: [] }));
    for (const { port2 } of this.#ports) {
      serveReader(port2, () => this.#reading());
      figures.attach(port2);
    }
    this.#http.connectReader(ofHttp.port1);
    this.#reader.connect(ofSocket.port1);
    const started = await this.#http.start();
    if (!started.ok) throw new Error(started.message);
    this.url = started.address ?? '';
    const { host } = this.#socketData.listen;
    this.socketAddress = await this.#socket.listen({ host, port: 0 });
  }

  #hear(): void {
    this.world.also.answer = (ticket, response) => {
      const asker = this.#askers.get(ticket);
      this.#askers.delete(ticket);
      if (asker !== undefined) {
        this.#consumer.replyBy(asker.peer, asker.ticket, writeAnswer, response);
        this.#consumer.flushReplies();
      }
    };
    this.world.also.durable = (seq) => {
      this.progress.durable = seq;
      for (const waiter of this.#waiters) {
        if (waiter.from > seq) continue;
        this.#waiters.delete(waiter);
        waiter.wake();
      }
    };
    this.world.also.mode = (mode) => {
      this.progress.phase = PHASE_OF[mode];
      this.progress.epoch = this.world.loop.view.state.epoch;
    };
  }

  #connect(name: string) {
    const { producer, consumer } = this.mailbox.connect(name);
    this.#consumer.add(consumer);
    return producer;
  }

  #take(): void {
    if (this.sleeps) return;
    this.#consumer.drain(EVERYTHING, EVERYTHING, this.#sink);
    this.world.loop.flush();
  }

  readonly #sink: MailboxSink = {
    take: (peer, ticket, kind, message) => {
      if (kind === 'withdraw' || kind === 'hasten') {
        const [own] =
          [...this.#askers].find(([, asker]) => asker.peer === peer && asker.ticket === ticket) ??
          [];
        if (own === undefined) return;
        if (kind === 'withdraw') this.world.loop.withdraw(own);
        else this.world.loop.hurry(own);
        return;
      }
      // The world's next ticket is known before it answers, which it may do at once.
      this.world.take(decodeRequest(Uint8Array.from(viewOf(message))), (own) =>
        this.#askers.set(own, { peer, ticket }),
      );
      this.#taken += 1;
    },
    gone: () => {},
  };

  #reading(): Reading {
    const { log } = this.world;
    return {
      log,
      queueOf: queueNames(log),
      removedAt: () => log.removedAt(),
      durable: () => this.progress.durable,
      wait: (waiter) => {
        this.#waiting += 1;
        this.#waiters.add(waiter);
      },
      forget: (waiter) => void this.#waiters.delete(waiter),
    };
  }
}
