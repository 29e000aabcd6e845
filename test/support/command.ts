// Owns the command line in the test's own process: a command with its words, its input and its
// variables goes in, what it printed and its exit status come out. A process of its own for each
// command takes a hundred times as long; what only a process can show is shown with one.

import { Readable, Writable } from 'node:stream';
import type { Io } from '../../src/cli/command.ts';
import { runCommand } from '../../src/cli/run-command.ts';

export interface Ran {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
}

export async function command(
  args: readonly string[],
  { stdin = '', env = {} }: { stdin?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<Ran> {
  const [out, err] = [new Kept(), new Kept()];
  const input = Readable.from(stdin === '' ? [] : [Buffer.from(stdin)]);
  const io = { stdin: input, stdout: out, stderr: err, env } as unknown as Io;
  const code = await runCommand(args, io);
  return { code, signal: null, out: out.text(), err: err.text() };
}

/** A stream that is no terminal. */
class Kept extends Writable {
  readonly #parts: Buffer[] = [];

  text(): string {
    return Buffer.concat(this.#parts).toString('utf8');
  }

  override _write(part: Buffer, _encoding: string, done: () => void): void {
    this.#parts.push(part);
    done();
  }
}
