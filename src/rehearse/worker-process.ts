// Owns one process of the worker that is rehearsed: a shell command in a process group of its own.
// A signal to the group reaches every process that the command starts, so none of them is left
// behind.

import { type ChildProcess, spawn } from 'node:child_process';
import type { CleanUp } from './clean-up.ts';
import { groupStopped } from './stopped-group.ts';
import type { Traffic } from './traffic.ts';

const OUTPUT_KEPT = 64 * 1024;

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group is gone already.
  }
}

export class WorkerProcess {
  readonly number: number;
  /** Resolves when the command has ended. */
  readonly ended: Promise<void>;
  /** The newest output, standard error included. */
  output = '';
  isOver = false;
  private readonly child: ChildProcess;
  private readonly traffic: Traffic;
  private readonly cleanUp: CleanUp;

  constructor(
    number: number,
    command: string,
    env: NodeJS.ProcessEnv,
    { traffic, cleanUp }: { readonly traffic: Traffic; readonly cleanUp: CleanUp },
  ) {
    this.number = number;
    this.traffic = traffic;
    this.cleanUp = cleanUp;
    this.child = spawn(command, {
      shell: true,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env,
    });
    if (this.child.pid !== undefined) cleanUp.add('group', this.child.pid);
    traffic.note(number, 'started');
    const take = (chunk: Buffer): void => {
      this.output = (this.output + chunk.toString('utf8')).slice(-OUTPUT_KEPT);
    };
    this.child.stdout?.on('data', take);
    this.child.stderr?.on('data', take);
    this.ended = new Promise((resolve) => {
      const over = (how: string): void => {
        if (this.isOver) return;
        this.isOver = true;
        traffic.note(number, 'ended', how);
        resolve();
      };
      this.child.once('error', (error) => over(error.message));
      this.child.once('exit', (code, signal) => over(signal ?? `status ${code}`));
    });
  }

  /** Resolves when the processes stand still. */
  async freeze(): Promise<void> {
    this.signal('SIGSTOP', 'frozen');
    if (this.child.pid !== undefined) await groupStopped(this.child.pid);
  }

  wake(): void {
    this.signal('SIGCONT', 'woken');
  }

  kill(): void {
    this.signal('SIGKILL', 'killed');
  }

  tellToStop(signal: 'SIGTERM' | 'SIGINT'): void {
    this.signal(signal, 'told to stop');
  }

  /** Ends the whole group for certain. */
  async destroy(): Promise<void> {
    const { pid } = this.child;
    if (pid !== undefined) {
      signalGroup(pid, 'SIGCONT');
      signalGroup(pid, 'SIGKILL');
    }
    await this.ended;
    if (pid !== undefined) this.cleanUp.drop('group', pid);
  }

  private signal(
    signal: NodeJS.Signals,
    what: 'frozen' | 'woken' | 'killed' | 'told to stop',
  ): void {
    this.traffic.note(this.number, what, signal);
    if (this.child.pid !== undefined) signalGroup(this.child.pid, signal);
  }
}
