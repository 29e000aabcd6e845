// Owns the course of `top` on a terminal: ask, draw, wait, and again; keys in between. A server
// that is gone is waited for, and the page says so.

import { monotonicMs } from '../../client/local-clock.ts';
import { CliError, EXIT, type Io } from '../command.ts';
import { shortDuration } from '../overview-table.ts';
import type { Server } from '../server.ts';
import type { Overview, Questions } from './questions.ts';
import { type Shown, screen, storyLines } from './screen.ts';
import { Terminal } from './terminal.ts';
import { FIRST_VIEW, press, type View, type Wish } from './view.ts';

/** An answer that takes longer is told to be missing. */
const SLOW_MS = 2_000;
/** How long it is told that the server answers again. */
const NOTICE_MS = 30_000;
const CLOCK_MS = 1_000;

export const shownOf = ({ stats, queues, workers }: Overview, url: string): Shown => ({
  url,
  stats,
  queues: queues['queues'] as Shown['queues'],
  workers: workers['workers'] as Shown['workers'],
  moreQueues: Number(queues['more'] ?? 0),
  moreWorkers: Number(workers['more'] ?? 0),
  now: Number(queues['now']),
  since: Number(queues['since']),
  notice: '',
});

export class Session {
  readonly #server: Server;
  readonly #questions: Questions;
  readonly #intervalMs: number;
  readonly #io: Io;
  #terminal: Terminal | undefined;
  #shown: Shown;
  #view: View = FIRST_VIEW;
  #epoch: unknown;
  #askedSinceMs: number | undefined;
  #notice: { readonly text: string; readonly atMs: number } | undefined;
  #isOver = false;
  #next: NodeJS.Timeout | undefined;
  #end: { resolve(): void; reject(error: unknown): void } | undefined;

  constructor(server: Server, questions: Questions, first: Overview, intervalMs: number, io: Io) {
    this.#server = server;
    this.#questions = questions;
    this.#intervalMs = intervalMs;
    this.#io = io;
    this.#shown = shownOf(first, server.url);
    this.#epoch = first.stats['epoch'];
  }

  /** Resolves when the user ends it. @throws CliError when the server refuses, as for a token */
  async run(): Promise<void> {
    const ended = new Promise<void>((resolve, reject) => {
      this.#end = { resolve, reject };
    });
    const terminal = new Terminal(
      this.#io,
      (name) => this.#press(name),
      () => this.#draw(),
    );
    this.#terminal = terminal;
    const clock = setInterval(() => this.#draw(), CLOCK_MS);
    try {
      this.#draw();
      this.#later();
      await ended;
    } finally {
      this.#isOver = true;
      clearInterval(clock);
      clearTimeout(this.#next);
      terminal.leave();
    }
  }

  #draw(): void {
    if (this.#terminal === undefined || this.#isOver) return;
    const shown = { ...this.#shown, url: this.#server.url, notice: this.#noticeText() };
    this.#terminal.draw(screen(shown, this.#view, this.#terminal.size));
  }

  #noticeText(): string {
    const waitedMs = this.#waitedMs();
    if (waitedMs >= SLOW_MS) {
      return `no answer for ${shortDuration(waitedMs)}; trying again. What is shown is older.`;
    }
    const notice = this.#notice;
    if (notice === undefined || monotonicMs() - notice.atMs > NOTICE_MS) return '';
    return notice.text;
  }

  #waitedMs(): number {
    return this.#askedSinceMs === undefined ? 0 : monotonicMs() - this.#askedSinceMs;
  }

  #press(name: string): void {
    if (this.#terminal === undefined || this.#isOver) return;
    const lines = storyLines(this.#terminal.size);
    const { view, wish } = press(this.#view, name, this.#shown, lines);
    this.#view = view;
    if (wish?.kind === 'quit') return this.#end?.resolve();
    if (wish?.kind === 'refresh') this.#refresh();
    else if (wish !== undefined) void this.#open(wish, this.#terminal.size.columns);
    this.#draw();
  }

  async #open(wish: Wish, columns: number): Promise<void> {
    try {
      const { tasks, story } = await this.#questions.opened(this.#view, wish, columns);
      this.#view = { ...this.#view, tasks, story };
    } catch (error) {
      if (!(error instanceof CliError)) return this.#end?.reject(error);
      this.#tell(error.message);
    }
    this.#draw();
  }

  #tell(text: string): void {
    this.#notice = { text, atMs: monotonicMs() };
  }

  #later(): void {
    clearTimeout(this.#next);
    if (!this.#isOver) this.#next = setTimeout(() => this.#refresh(), this.#intervalMs);
  }

  #refresh(): void {
    // A question that is open already will be followed by the next one.
    if (this.#askedSinceMs !== undefined) return;
    this.#askedSinceMs = monotonicMs();
    void this.#ask();
  }

  async #ask(): Promise<void> {
    const sorts = ({ queueSort, workerSort }: View): string => `${queueSort} ${workerSort}`;
    const asked = sorts(this.#view);
    try {
      this.#take(await this.#questions.overview(this.#view));
    } catch (error) {
      const isGone = error instanceof CliError && error.status === EXIT.noServer;
      if (!isGone) return this.#end?.reject(error);
      // Asked again at once: how long it lasts is counted from the first question.
      if (!this.#isOver) setTimeout(() => void this.#ask(), CLOCK_MS / 2);
      return;
    }
    this.#askedSinceMs = undefined;
    this.#draw();
    if (asked === sorts(this.#view)) this.#later();
    else this.#refresh();
  }

  #take(overview: Overview): void {
    const waitedMs = this.#waitedMs();
    const { epoch } = overview.stats;
    const after = `after ${shortDuration(waitedMs)}`;
    if (epoch !== this.#epoch) {
      this.#tell(`the server was started again (record ${epoch}); it answers ${after}`);
    } else if (waitedMs >= SLOW_MS) this.#tell(`the server answers again ${after}`);
    this.#epoch = epoch;
    this.#shown = shownOf(overview, this.#server.url);
  }
}
