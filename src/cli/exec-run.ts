// Owns one run of the command of `work`: the payload goes in, bounded output comes out, and an
// abort ends the whole process group. exec-handler.ts says what the end of the command means for
// the task.

import { type ChildProcess, spawn } from 'node:child_process';
import { LeaseholdError } from '../client/errors.ts';
import { errnoText } from '../model/errno-text.ts';
import { killGroup, startGroup } from './exec-groups.ts';
import { HeadCapture, TailCapture } from './exec-output.ts';

export interface ExecRun {
  readonly command: string;
  readonly payload: Buffer;
  /** Added to our own environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly stdoutMaxBytes: number;
  /** Ends the command. */
  readonly signal: AbortSignal;
  /** Whether the lease is held, by the coordinator's word. */
  readonly stillMine: () => Promise<boolean>;
  /** From TERM to KILL. */
  readonly killAfterMs: number;
}

export interface ExecEnd {
  /** null: a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: HeadCapture;
  readonly stderr: TailCapture;
}

const STDERR_KEPT_BYTES = 4_000;
/**
 * How long output may still come after the command itself has ended. A process that the command
 * left in the background may hold the pipes open for ever.
 */
const LAST_OUTPUT_MS = 500;
const isWindows = process.platform === 'win32';

/**
 * @throws LeaseholdError WRONG_MACHINE when the command could not be started (no shell, no memory,
 *   no file descriptor); the command has then seen nothing of the task
 */
export async function execRun(run: ExecRun): Promise<ExecEnd> {
  const stdout = new HeadCapture(run.stdoutMaxBytes);
  const stderr = new TailCapture(STDERR_KEPT_BYTES);
  const { child, forget } = startGroup(() => start(run), run.stillMine);
  // Listened for in this turn: an error that nobody listens for would end the process.
  const end = ended(child);
  // Without descriptors for its pipes a child has none.
  child.stdout?.on('data', (piece: Buffer) => stdout.add(piece));
  child.stderr?.on('data', (piece: Buffer) => stderr.add(piece));
  // A command need not read its input.
  child.stdin?.on('error', () => {});
  child.stdin?.end(run.payload);
  const stopKilling = killOnAbort(child, run.signal, run.killAfterMs);
  try {
    const { code, signal } = await end;
    return { code, signal, stdout, stderr };
  } finally {
    stopKilling();
    forget();
  }
}

function start(run: ExecRun): ChildProcess {
  try {
    // Detached: the command leads a process group of its own, which can be ended as a whole.
    return spawn(run.command, {
      shell: true,
      detached: !isWindows,
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...process.env, ...run.env },
    });
  } catch (error) {
    throw notStarted(error);
  }
}

const notStarted = (cause: unknown): LeaseholdError =>
  new LeaseholdError('WRONG_MACHINE', `the command cannot be started: ${errnoText(cause)}`, {
    cause,
  });

function ended(child: ChildProcess): Promise<Pick<ExecEnd, 'code' | 'signal'>> {
  return new Promise((resolve, reject) => {
    // Later errors, such as of a signal that came too late, change nothing about the end.
    child.on('error', (error) => child.pid === undefined && reject(notStarted(error)));
    child.on('exit', (code, signal) => {
      const done = (): void => {
        clearTimeout(timer);
        child.stdout?.destroy();
        child.stderr?.destroy();
        resolve({ code, signal });
      };
      const timer = setTimeout(done, LAST_OUTPUT_MS);
      child.once('close', done);
    });
  });
}

/** TERM to the group when the signal aborts, KILL when that was not enough. */
function killOnAbort(child: ChildProcess, signal: AbortSignal, killAfterMs: number): () => void {
  let timer: NodeJS.Timeout | undefined;
  const end = (): void => {
    killGroup(child, 'SIGTERM');
    timer = setTimeout(() => killGroup(child, 'SIGKILL'), killAfterMs);
  };
  if (signal.aborted) end();
  else signal.addEventListener('abort', end, { once: true });
  return () => {
    signal.removeEventListener('abort', end);
    if (timer === undefined) return;
    clearTimeout(timer);
    // The leader is gone; what it left in its group must not go on without a lease.
    killGroup(child, 'SIGKILL');
  };
}
