// Owns the process groups of the commands that run now. A command must not go on without its
// lease. So the commands are killed when this process exits. While this process is suspended they
// are suspended too, because nobody sends heartbeats for them.

import type { ChildProcess } from 'node:child_process';

const isWindows = process.platform === 'win32';

interface Group {
  readonly child: ChildProcess;
  /** Asks the coordinator. */
  stillMine(): Promise<boolean>;
}

const running = new Set<Group>();

/** Sends a signal to a command and to everything that it has started. */
export function killGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(isWindows ? pid : -pid, signal);
  } catch {
    // Nobody is left in the group.
  }
}

/**
 * Starts a command in a group of its own. The signals are listened for before the command runs:
 * one that came in between would suspend this process alone, or nobody.
 * @returns the command, and what is to be called when it has ended. @throws what `start` throws
 */
export function startGroup(
  start: () => ChildProcess,
  stillMine: Group['stillMine'],
): { readonly child: ChildProcess; forget(): void } {
  if (running.size === 0) listen();
  const quiet = (): void => {
    if (running.size === 0) unlisten();
  };
  try {
    const group = { child: start(), stillMine };
    running.add(group);
    const forget = (): void => {
      running.delete(group);
      quiet();
    };
    return { child: group.child, forget };
  } catch (error) {
    quiet();
    throw error;
  }
}

/** The process ends without having waited for them, for instance by an error that nobody caught. */
const killAll = (): void => {
  for (const { child } of running) killGroup(child, 'SIGKILL');
};

/** Ctrl-Z reaches the terminal's own group only, which these are not in. */
const suspend = (): void => {
  for (const { child } of running) killGroup(child, 'SIGSTOP');
  process.kill(process.pid, 'SIGSTOP');
};

/** A lease that ran out meanwhile is lost, and its command is ended for that. */
const resume = (): void => {
  for (const group of running) void goOn(group);
};

async function goOn(group: Group): Promise<void> {
  const isMine = await group.stillMine();
  if (isMine && running.has(group)) killGroup(group.child, 'SIGCONT');
}

function listen(): void {
  process.on('exit', killAll);
  if (!isWindows) process.on('SIGTSTP', suspend).on('SIGCONT', resume);
}

function unlisten(): void {
  process.off('exit', killAll);
  if (!isWindows) process.off('SIGTSTP', suspend).off('SIGCONT', resume);
}
