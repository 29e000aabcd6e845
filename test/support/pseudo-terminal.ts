// Owns a command of ours in a pseudo terminal of a given size, by `script` of util-linux: what it
// draws, as the lines that would stand on the screen, and keys for it.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { EXECUTABLE } from '../../src/play/demo/processes.ts';

const PATIENCE_MS = 60_000;
const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

/** Whether this machine has the `script` that is used here. */
export const hasPseudoTerminals = (): boolean =>
  /util-linux/.test(spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout ?? '');

export class PseudoTerminal {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  #isOver = false;
  /** All that was written to the terminal. */
  written = '';

  constructor(args: readonly string[], env: NodeJS.ProcessEnv, cwd: string, size = [24, 80]) {
    const [rows, columns] = size;
    const command = [process.execPath, EXECUTABLE, ...args].map(quoted).join(' ');
    // The shell says which process the command is, and how the terminal was left.
    const line =
      `stty rows ${rows} cols ${columns}; sh -c ${quoted(`echo PID=$$; exec ${command}`)}; ` +
      `echo STATUS=$?; stty -a | grep -o -e '-\\?icanon'`;
    this.#child = spawn('script', ['-q', '-f', '-c', line, '/dev/null'], {
      env: { ...env, TERM: 'xterm', SHELL: '/bin/sh' },
      cwd,
      stdio: 'pipe',
    });
    this.#child.stdin?.on('error', () => {});
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.written += text;
    });
    this.#child.once('close', () => {
      this.#isOver = true;
    });
    this.#ended = once(this.#child, 'close');
  }

  press(keys: string): void {
    this.#child.stdin?.write(keys);
  }

  /** Signals the command itself, not the terminal. */
  async signal(signal: NodeJS.Signals): Promise<void> {
    process.kill(Number((await this.until(/PID=(\d+)/))[1]), signal);
  }

  async until(text: RegExp): Promise<RegExpExecArray> {
    return this.#wait(() => text.exec(this.written) ?? undefined, text);
  }

  /** The frames that were drawn, the newest last; each as its lines. */
  frames(): string[][] {
    return this.written
      .split('\u001b[H')
      .slice(1)
      .filter((frame) => frame.includes('\u001b[J'))
      .map((frame) =>
        (frame.split('\u001b[J')[0] as string)
          .split('\r\n')
          .map((line) => line.replace('\u001b[2K', '')),
      );
  }

  /** Resolves with the first frame from the newest on that shows the text. */
  async shows(text: RegExp): Promise<string[]> {
    const from = Math.max(0, this.frames().length - 1);
    const find = () =>
      this.frames()
        .slice(from)
        .find((lines) => text.test(lines.join('\n')));
    return this.#wait(find, text);
  }

  /** Resolves with what the shell says of the end: the exit status, and `icanon` or `-icanon`. */
  async ended(): Promise<string> {
    const [, said = ''] = await this.until(/STATUS=([\s\S]*icanon)/);
    await this.#ended;
    return said.trim().split(/\s+/).join(' ');
  }

  async close(): Promise<void> {
    // What runs in the terminal is ended by the terminal's own end.
    this.#child.kill('SIGKILL');
    await this.#ended;
  }

  async #wait<T>(find: () => T | undefined, what: RegExp): Promise<T> {
    const end = performance.now() + PATIENCE_MS;
    for (;;) {
      const found = find();
      if (found !== undefined) return found;
      if (this.#isOver || performance.now() > end) break;
      await pause(20);
    }
    throw new Error(`never showed ${what}: ${JSON.stringify(this.written.slice(-3_000))}`);
  }
}
