// Owns `submit`: one task from a file or the standard input, or one task a line.

import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { DURATION_MAX } from '../model/limits.ts';
import {
  CliError,
  collect,
  durationMs,
  EXIT,
  type Io,
  say,
  usage,
  wholeNumber,
} from './command.ts';
import { Server, type ServerOptions, successOf, withServer } from './http.ts';
import { bytesField, readInput } from './input.ts';
import { submitLines } from './submit-lines.ts';
import { taskText } from './task-text.ts';
import { recordText } from './words.ts';

interface Options extends ServerOptions {
  readonly queue: string;
  readonly file?: string;
  readonly lines?: true;
  readonly requestId?: string;
  readonly requestIdPrefix?: string;
  readonly wait?: true;
  readonly delayMs?: string;
  readonly executionWindowMs?: string;
  readonly maxRetries?: string;
  readonly backoffMs?: string;
  readonly metadata?: string[];
}

export function define(command: Command, io: Io): void {
  withServer(command)
    .option('--queue <queue>', 'into this queue', 'default')
    .option('--file <file>', 'the payload; - or nothing is the standard input')
    .option('--lines', 'one task a line')
    .option('--request-id <id>', 'repeating it answers the same task while that is remembered')
    .option('--request-id-prefix <prefix>', 'with --lines: names each line, as PREFIX:NUMBER')
    .option('--wait', 'until the task is over; its end decides the exit status')
    .option('--delay-ms <time>', 'not before so much time is over (10m, or milliseconds)')
    .option('--execution-window-ms <time>', 'hard cap of ownership for each attempt')
    .option('--max-retries <n>', 'further attempts after a failed one')
    .option('--backoff-ms <time>', 'pause after a failure')
    .option('--metadata <key=value>', 'a fact to be carried along; may be repeated', collect)
    .action((options: Options) => submit(options, io));
}

async function submit(options: Options, io: Io): Promise<void> {
  const fields = fieldsOf(options);
  const server = new Server(options, io);
  try {
    if (options.lines === true) {
      if (options.requestId !== undefined || options.wait === true) {
        throw usage('--lines goes with --request-id-prefix, and not with --request-id or --wait');
      }
      await submitLines(server, fields, options, io);
    } else {
      if (options.requestIdPrefix !== undefined) throw usage('--request-id-prefix needs --lines');
      await submitOne(server, fields, options, io);
    }
  } finally {
    server.close();
  }
}

function fieldsOf(options: Options): Record<string, unknown> {
  const { maxRetries, backoffMs, delayMs, executionWindowMs, metadata } = options;
  const fields: Record<string, unknown> = { queue: options.queue };
  const duration = (flag: string, given: string, min: number): number =>
    durationMs(flag, given, min, DURATION_MAX);
  if (delayMs !== undefined) fields['delay_ms'] = duration('--delay-ms', delayMs, 0);
  if (executionWindowMs !== undefined) {
    fields['execution_window_ms'] = duration('--execution-window-ms', executionWindowMs, 1);
  }
  const policy: Record<string, number> = {};
  if (maxRetries !== undefined) {
    policy['max_retries'] = wholeNumber('--max-retries', maxRetries, 0, Number.MAX_SAFE_INTEGER);
  }
  if (backoffMs !== undefined) policy['backoff_ms'] = duration('--backoff-ms', backoffMs, 0);
  if (Object.keys(policy).length > 0) fields['retry_policy'] = policy;
  if (metadata !== undefined) fields['metadata'] = Object.fromEntries(metadata.map(pair));
  return fields;
}

function pair(given: string): [string, string] {
  const at = given.indexOf('=');
  if (at < 1) throw usage(`--metadata: ${JSON.stringify(given)} is not key=value`);
  return [given.slice(0, at), given.slice(at + 1)];
}

async function submitOne(
  server: Server,
  fields: Record<string, unknown>,
  options: Options,
  io: Io,
): Promise<void> {
  const payload = bytesField('payload', await readInput(options.file, io));
  const named = options.requestId === undefined ? {} : { request_id: options.requestId };
  const answer = await server.post('/v1/tasks', { ...fields, ...payload, ...named });
  const task = successOf(answer, options);
  if (options.wait === true) return untilOver(server, String(task['task_id']), options, io);
  if (options.json === true) return say(io.stdout, answer.text);
  const again = task['deduplicated'] === true ? ' (submitted before)' : '';
  const { task_id, state, queue } = task;
  say(io.stdout, `${task_id} ${state} in queue ${queue}${again}, ${recordText(task)}`);
}

const POLL_MS = 60_000;
/** A server that is started again is waited for; so many times in a row. */
const TRIES = 60;
const PAUSE_MS = 1_000;
const OVER = new Set(['COMPLETED', 'FAILED', 'DEAD']);

function noAnswer(error: unknown): CliError {
  if (error instanceof CliError && error.status === EXIT.noServer) return error;
  throw error;
}

async function untilOver(server: Server, id: string, options: Options, io: Io): Promise<void> {
  for (let failed = 0; ; ) {
    const answer = await server.get(`/v1/tasks/${id}?wait_ms=${POLL_MS}`).catch(noAnswer);
    if (answer instanceof CliError || answer.status === 503) {
      failed += 1;
      if (failed > TRIES) throw new CliError(EXIT.noServer, `${id} is submitted, its end unknown`);
      await pause(PAUSE_MS);
      continue;
    }
    failed = 0;
    const task = successOf(answer, options);
    if (!OVER.has(String(task['state']))) continue;
    say(io.stdout, options.json === true ? answer.text : taskText(task));
    if (task['state'] === 'COMPLETED') return;
    throw new CliError(EXIT.failed, options.json === true ? '' : `${id} ended ${task['state']}`);
  }
}
