// Owns waiting for the end of a task that was just submitted. The wait outlives restarts of the
// server, and proxies that give up on a long poll before the server answers.

import { monotonicMs, pause } from '../client/local-clock.ts';
import { WAIT_MAX_MS } from '../model/limits.ts';
import { CliError, EXIT, type Io, say } from './command.ts';
import { successOf } from './refusals.ts';
import { type Server } from './server.ts';
import { type ServerOptions } from './server-options.ts';
import { taskText } from './task-text.ts';
import { durationText } from './words.ts';

type Fields = Readonly<Record<string, unknown>>;

const OVER = new Set(['COMPLETED', 'FAILED', 'DEAD']);
/** A server that is started again is waited for, as long as that may take on a large log. */
const PATIENCE_MS = 60_000;
const PAUSE_MS = 500;

/**
 * Prints the task when it is over.
 * @param waitMs the longest wait in ms; Infinity: no limit
 * @throws CliError when the task did not complete, is not over by then, or no server answers
 */
export async function untilOver(
  server: Server,
  { task_id, record }: Fields,
  waitMs: number,
  options: ServerOptions,
  io: Io,
): Promise<void> {
  const which = typeof record === 'number' ? `, record ${record}` : ' already';
  say(io.stderr, `${task_id} is submitted${which}; waiting for its end`);
  server.waitFor(PATIENCE_MS);
  const endsAt = monotonicMs() + waitMs;
  let pollMs = WAIT_MAX_MS;
  for (;;) {
    const leftMs = Math.max(0, Math.floor(endsAt - monotonicMs()));
    const asked = { task_id, wait_ms: Math.min(pollMs, leftMs) };
    const polled = await server.askOnce('task', asked, asked.wait_ms);
    // A poll that waits may be cut by what lies between; one that does not shows who answers.
    const body = polled ?? (await askNow(server, task_id)).body;
    const task = successOf({ body }, options);
    if (OVER.has(String(task['state']))) return tell(task, options, io);
    if (monotonicMs() >= endsAt) {
      const how = `${task_id} is ${task['state']}, not over after ${durationText(waitMs)}`;
      throw new CliError(EXIT.failed, options.json === true ? JSON.stringify(task) : how);
    }
    if (polled !== undefined) continue;
    pollMs = Math.max(Math.ceil(pollMs / 2), 1_000);
    await pause(PAUSE_MS);
  }
}

async function askNow(server: Server, taskId: unknown): ReturnType<Server['ask']> {
  try {
    return await server.ask('task', { task_id: taskId });
  } catch (error) {
    if (!(error instanceof CliError) || error.status !== EXIT.noServer) throw error;
    throw new CliError(error.status, `${taskId} is submitted, its end unknown: ${error.message}`);
  }
}

function tell(task: Fields, { json }: ServerOptions, io: Io): void {
  say(io.stdout, json === true ? JSON.stringify(task) : taskText(task));
  if (task['state'] === 'COMPLETED') return;
  const how = `${task['task_id']} ended ${task['state']}`;
  throw new CliError(EXIT.failed, json === true ? '' : how);
}
