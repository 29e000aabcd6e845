// Owns a leasehold of its own for a bench: the built program as a child process, on ports that the
// system picks, in a directory that goes with it. It is stopped by its own pid.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { verifyLeft } from './checked.ts';
import { scratch } from './machine.ts';

/** The command line of this build. */
export const MAIN = fileURLToPath(new URL('../src/cli/main.js', import.meta.url));
const READY_MS = 300_000;

export interface Server {
  readonly pid: number;
  readonly directory: string;
  readonly httpPort: number;
  readonly socketPort: number;
  /** From spawn to ready. */
  readonly readyMs: number;
  /** What it said of its replay. */
  readonly replayMs: number;
  readonly replayRecords: number;
  /** @param keep leaves the directory for another start. */
  stop(keep?: boolean): Promise<void>;
}

interface Line {
  readonly msg?: string;
  readonly addresses?: readonly string[];
  readonly replay_ms?: number;
  readonly replay_records?: number;
}

export interface ServerOptions {
  /** The main file of another build; this one's by default. */
  readonly program?: string;
  /** A directory of an earlier start. */
  readonly directory?: string;
  readonly knobs?: readonly string[];
  /** For node itself, such as --cpu-prof. */
  readonly nodeOptions?: readonly string[];
  /** Told each line of the standard output that is no log line: what node itself writes. */
  onLine?(line: string): void;
}

export async function startServer(options: ServerOptions = {}): Promise<Server> {
  const directory = options.directory ?? scratch('server');
  const started = performance.now();
  const child = spawn(
    process.execPath,
    [
      ...(options.nodeOptions ?? []),
      options.program ?? MAIN,
      'serve',
      ...['--data-dir', directory, '--http-port', '0', '--socket-port', '0'],
      ...(options.knobs ?? []),
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  // Whatever ends the bench, its server must not outlive it.
  const end = (): unknown => child.kill('SIGKILL');
  process.once('exit', end);
  const said = await untilReady(child, options.onLine);
  const [http = '', socket = ''] = said.addresses;
  return {
    pid: child.pid as number,
    directory,
    httpPort: portOf(http),
    socketPort: portOf(socket),
    readyMs: performance.now() - started,
    replayMs: said.replayMs,
    replayRecords: said.replayRecords,
    async stop(keep = false) {
      child.kill('SIGTERM');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      process.off('exit', end);
      verifyLeft(options.program ?? MAIN, directory);
      if (!keep) rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function untilReady(child: ChildProcess, onLine?: ServerOptions['onLine']) {
  const said = { addresses: [] as readonly string[], replayMs: 0, replayRecords: 0 };
  let text = '';
  child.stderr?.on('data', (data: Buffer) => {
    text += data.toString();
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), READY_MS);
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  for await (const line of lines) {
    if (!line.startsWith('{')) {
      onLine?.(line);
      continue;
    }
    const { addresses, msg, ...rest } = JSON.parse(line) as Line;
    said.addresses = addresses ?? said.addresses;
    if (msg !== 'ready') continue;
    clearTimeout(timer);
    // What it says from now on must not fill the pipe.
    if (onLine === undefined) child.stdout?.resume();
    else createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', onLine);
    return { ...said, replayMs: rest.replay_ms ?? 0, replayRecords: rest.replay_records ?? 0 };
  }
  throw new Error(`the server did not become ready: ${text.slice(0, 500)}`);
}

const portOf = (address: string): number => Number(/:(\d+)$/.exec(address)?.[1]);

/** Processor time of all threads of a process so far, in ms. */
export function cpuMs(pid: number): number {
  return ticksOf(readFileSync(`/proc/${pid}/stat`, 'utf8')) * 10;
}

/** The same in µs for each of its threads that is still there, by thread id. */
export function threadCpuUs(pid: number): ReadonlyMap<number, number> {
  const threads = new Map<number, number>();
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const [runNs] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ');
    threads.set(Number(thread), Number(runNs) / 1_000);
  }
  return threads;
}

/** Bytes, by the names of /proc/PID/status: RssAnon, VmRSS. */
export function memoryOf(pid: number): { readonly anonymous: number; readonly resident: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kib = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]);
  return { anonymous: kib('RssAnon') * 1_024, resident: kib('VmRSS') * 1_024 };
}

/** Bytes that the process has caused to be written to the device. */
export const writtenBytes = (pid: number | 'self'): number =>
  Number(/^write_bytes: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1]);

/** User and system ticks of 10 ms; the name before them may hold spaces. */
function ticksOf(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11]) + Number(fields[12]);
}
