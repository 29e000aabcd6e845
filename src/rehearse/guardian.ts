// Owns the process that cleans up after a rehearsal, however the rehearsal ends, SIGKILL included.
// The guardian is told on its standard input which process groups, processes and folders there
// are. When that input ends, the guardian ends those processes and removes those folders.

import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { createInterface } from 'node:readline';

const groups = new Set<number>();
const processes = new Set<number>();
const folders = new Set<string>();

// The signal that ends the rehearsal reaches its whole group; the guardian goes last.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});

const sets: Readonly<Record<string, Set<number> | undefined>> = {
  group: groups,
  process: processes,
};

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const [sign, kind, name] = JSON.parse(line) as [string, string, string];
    if (kind === 'folder') {
      if (sign === '+') folders.add(name);
      else folders.delete(name);
      return;
    }
    if (sign === '+') sets[kind]?.add(Number(name));
    else sets[kind]?.delete(Number(name));
  })
  .on('close', () => {
    for (const pid of groups) end(-pid);
    for (const pid of processes) end(pid);
    for (const pid of marked()) end(pid);
    for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    process.exit();
  });

/** Processes that nobody has listed, where the system shows environments; elsewhere none. */
function marked(): number[] {
  const mark = process.argv[2] ?? '';
  try {
    return readdirSync('/proc')
      .map(Number)
      .filter((pid) => pid > 0 && bears(pid, mark));
  } catch {
    return [];
  }
}

function bears(pid: number, mark: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(mark);
  } catch {
    // The process has ended, or belongs to somebody else.
    return false;
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGCONT');
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}
