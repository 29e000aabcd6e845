// Owns the servers of a run: each a child of this process, on a loopback port that was free, in a
// temporary directory of its own, stopped by its pid. It knows no server that it did not start.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { scratch } from '../../dist/bench/machine.js';
import { freePort } from '../../dist/src/play/demo/processes.js';

const READY_MS = 15_000;
const STOP_MS = 5_000;
const KEEP_MS = 120_000;

/** Whatever ends the bench, its servers must not outlive it. */
const running = new Set();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

/**
 * Takes {name, command, args(directory, port), signal?, user?: {uid, gid}, prepare?(directory),
 * directory?: one that an earlier start left}.
 * @returns {pid, port, directory, stop(keep?)}
 */
export async function startProcess({ name, command, args, signal = 'SIGTERM', user, ...more }) {
  const directory = more.directory ?? scratch(`peer-${name}`);
  await more.prepare?.(directory);
  const port = await freePort();
  const child = spawn(command, args(directory, port), {
    cwd: directory,
    stdio: ['ignore', 'ignore', 'pipe'],
    ...user,
  });
  running.add(child);
  let said = '';
  child.stderr.on('data', (data) => {
    said = `${said}${data}`.slice(-2_000);
  });
  const ended = once(child, 'exit').then(() => true);
  const stop = async (keep = false) => {
    child.kill(signal);
    // What a directory is kept for must be written down first.
    const timer = setTimeout(() => child.kill('SIGKILL'), keep ? KEEP_MS : STOP_MS);
    await ended;
    clearTimeout(timer);
    running.delete(child);
    if (!keep) rmSync(directory, { recursive: true, force: true });
  };
  for (const until = performance.now() + READY_MS; !(await answers(port)); ) {
    if (child.exitCode !== null || performance.now() > until) {
      if (child.exitCode === null) await stop();
      throw new Error(`${name} did not start: ${said}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return { pid: child.pid, port, directory, stop };
}

/** A process and those that it started. */
export function family(pid) {
  const parents = new Map();
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'utf8');
      parents.set(Number(entry), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
    } catch {
      // It has ended since the folder was listed.
    }
  }
  const found = [pid];
  for (const one of found) {
    for (const [child, parent] of parents) if (parent === one) found.push(child);
  }
  return found;
}

function answers(port) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}
