// Owns an example of docs/examples while it runs: what it says, line by line, and its end.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

type Signal = 'SIGTERM' | 'SIGKILL' | 'SIGINT';

const running = new Set<Program>();

export class Program {
  readonly lines: string[] = [];
  readonly #child: ChildProcess;
  readonly #closed: Promise<unknown[]>;
  #heard: (() => void) | undefined;

  constructor(command: string, args: readonly string[], env: NodeJS.ProcessEnv) {
    this.#child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#closed = this.#untilClosed();
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      createInterface({ input: stream as NodeJS.ReadableStream }).on('line', (line) => {
        this.lines.push(line);
        this.#heard?.();
      });
    }
    running.add(this);
  }

  get isRunning(): boolean {
    return running.has(this);
  }

  async #untilClosed(): Promise<unknown[]> {
    const status = await once(this.#child, 'close');
    running.delete(this);
    this.#heard?.();
    return status;
  }

  /** @throws Error when it ends without such a line */
  async line(pattern: RegExp): Promise<string> {
    for (;;) {
      const found = this.lines.find((line) => pattern.test(line));
      if (found !== undefined) return found;
      if (!running.has(this)) throw new Error(`${pattern} was not said: ${this.lines.join('\n')}`);
      await new Promise<void>((resolve) => {
        this.#heard = resolve;
      });
    }
  }

  /** @returns its exit status, or null: a signal ended it */
  async ended(): Promise<number | null> {
    const [code] = await this.#closed;
    return code as number | null;
  }

  async end(signal: Signal = 'SIGTERM'): Promise<number | null> {
    this.#child.kill(signal);
    return this.ended();
  }
}

/** Runs an example with node, with nothing of the caller's own settings. */
export function example(
  name: string,
  env: Readonly<Record<string, string>>,
  ...args: readonly string[]
): Program {
  return new Program(process.execPath, [`docs/examples/${name}`, ...args], {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    ...env,
  });
}

/** To be called after each test: ends what a failed test has left. */
export async function endPrograms(): Promise<void> {
  await Promise.all([...running].map((program) => program.end('SIGKILL')));
}
