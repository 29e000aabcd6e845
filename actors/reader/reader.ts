// Owns the reader thread: its own read-only handle of the log, and the answers about the log as
// such (pages, followers, explanations). It shows nothing beyond the newest durable record, and
// nothing it does can slow the coordinator.

import type { MessagePort } from 'node:worker_threads';
import { openLmdbReader } from '../../src/log/lmdb-reader.ts';
import { queueNames } from '../../src/reader/queue-names.ts';
import type { ReaderControl, StartResult } from '../shared/control.ts';
import { serveControl } from '../shared/control-port.ts';
import { watchLag } from '../shared/event-loop-lag.ts';
import { FiguresHub } from '../shared/gathered-figures.ts';
import { Progress } from '../shared/progress.ts';
import { type Reading, serveReader, type Waiter } from './session.ts';

export interface ReaderData {
  /** A ReaderControl is exposed on it. */
  readonly control: MessagePort;
  readonly progress: SharedArrayBuffer;
  /** Absolute; the log must exist when `start` is called. */
  readonly dataDir: string;
}

/** The pool's task; resolves after stop. */
export default function reader(data: ReaderData): Promise<void> {
  return new Promise((resolve) => {
    const actor = new Reader(data, resolve);
    serveControl(data.control, actor);
  });
}

class Reader implements ReaderControl {
  readonly #data: ReaderData;
  readonly #ended: () => void;
  readonly #lag = watchLag('reader');
  readonly #ports = new Set<MessagePort>();
  readonly #waiters = new Set<Waiter>();
  readonly #progress: Progress;
  readonly #figures = new FiguresHub(() => ({ ...this.#lag.figures(), requests: [] }));
  #announced = 0;
  #reading: Reading | undefined;
  #opening: Promise<StartResult> | undefined;

  constructor(data: ReaderData, ended: () => void) {
    this.#data = data;
    this.#ended = ended;
    this.#progress = new Progress(data.progress);
    this.#progress.awaited = true;
    this.#progress.copies.adopt();
  }

  start(): Promise<StartResult> {
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  attach(port: MessagePort): void {
    this.#ports.add(port);
    port.once('close', () => this.#ports.delete(port));
    const current = () => this.#reading ?? this.#soon();
    serveReader(port, current, this.#data.dataDir, this.#progress.copies);
    this.#figures.attach(port);
  }

  durable(seq: number): void {
    this.#announced = Math.max(this.#announced, seq);
    for (const waiter of this.#waiters) {
      if (waiter.from > this.#announced) continue;
      this.#waiters.delete(waiter);
      waiter.wake();
    }
    this.#progress.awaited = this.#waiters.size > 0 || this.#reading === undefined;
    // What kept the log from being opened at the start may be over.
    if (this.#reading === undefined) void this.start();
  }

  quiesce(): void {}

  async stop(): Promise<void> {
    for (const port of this.#ports) port.close();
    this.#lag.stop();
    await this.#reading?.log.close();
    setImmediate(this.#ended);
  }

  /** The coordinator is ready a moment before the log is open here: worth waiting for. */
  async #soon(): Promise<Reading | undefined> {
    const { phase } = this.#progress;
    if (phase !== 'ready' && phase !== 'refusing') return undefined;
    await this.start();
    return this.#reading;
  }

  #wait(waiter: Waiter): void {
    this.#waiters.add(waiter);
    this.#progress.awaited = true;
    // A record that became durable just before that was announced to nobody.
    this.durable(this.#progress.durable);
  }

  async #open(): Promise<StartResult> {
    if (this.#reading !== undefined) return { ok: true };
    try {
      const durable = () => Math.max(this.#announced, this.#progress.durable);
      const log = await openLmdbReader(this.#data.dataDir, durable);
      this.#reading = {
        log,
        queueOf: queueNames(log),
        durable,
        removedAt: () => log.removedAt,
        wait: (waiter) => this.#wait(waiter),
        forget: (waiter) => void this.#waiters.delete(waiter),
      };
      return { ok: true };
    } catch (error) {
      const { code = 'LOG_IO', message } = error as NodeJS.ErrnoException;
      return { ok: false, code, message };
    }
  }
}
