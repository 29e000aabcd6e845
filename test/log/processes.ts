// Owns the other processes of a test: started, listened to line by line, and ended with it.

import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const FILE = fileURLToPath(new URL('./other-process.js', import.meta.url));

export class OtherProcess {
  readonly child: ChildProcess;
  private readonly lines: AsyncIterator<string>;

  constructor(...args: string[]) {
    this.child = spawn(process.execPath, [FILE, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    const input = createInterface({ input: this.child.stdout as NodeJS.ReadableStream });
    this.lines = input[Symbol.asyncIterator]();
  }

  /** The next line that it says; undefined when it has ended. */
  async line(): Promise<string | undefined> {
    const { value, done } = await this.lines.next();
    return done === true ? undefined : value;
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** Kills it, when it runs still, and waits for its end. */
  async end(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGKILL');
    await ended;
  }
}
