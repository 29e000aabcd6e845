// Owns the question whether a process group that was sent SIGSTOP stands still. The signal only
// begins the stop: on a busy machine a thread of the group may run on for some milliseconds.

import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

const LOOK_MS = 5;
const LOOKS = 400;

/** Resolves when every thread of the group stands still; where the system shows none, soon. */
export async function groupStopped(group: number): Promise<void> {
  await pause(LOOK_MS);
  for (let look = 0; look < LOOKS && threadsOf(group).some(isRunning); look += 1) {
    await pause(LOOK_MS);
  }
}

/** State and group are the first and the third field behind the name, which may hold anything. */
const fieldsOf = (stat: string): readonly string[] =>
  stat.slice(stat.lastIndexOf(')') + 2).split(' ');

const isRunning = (stat: string): boolean =>
  !['T', 't', 'Z', 'X'].includes(fieldsOf(stat)[0] ?? '');

function threadsOf(group: number): readonly string[] {
  return numbersIn('/proc').flatMap((pid) => {
    const own = statOf(`/proc/${pid}`);
    if (own === undefined || fieldsOf(own)[2] !== String(group)) return [];
    return numbersIn(`/proc/${pid}/task`).flatMap(
      (thread) => statOf(`/proc/${pid}/task/${thread}`) ?? [],
    );
  });
}

function numbersIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => /^\d+$/.test(name));
  } catch {
    // The process has ended, or the system has no /proc.
    return [];
  }
}

function statOf(folder: string): string | undefined {
  try {
    return readFileSync(`${folder}/stat`, 'utf8');
  } catch {
    return undefined;
  }
}
