// Owns `submit`: one task from a file or the standard input, or one task a line.

import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { DURATION_MAX } from '../model/limits.ts';
import { readDuration } from '../model/read-duration.ts';
import {
  CliError,
  collect,
  durationMs,
  EXIT,
  type Io,
  patienceMs,
  say,
  usage,
  wholeNumber,
} from './command.ts';
import { bytesField, readInput } from './input.ts';
import { successOf } from './refusals.ts';
import { Server } from './server.ts';
import { type ServerOptions, withServer } from './server-options.ts';
import { submitLines } from './submit-lines.ts';
import { untilOver } from './until-over.ts';
import { recordText } from './words.ts';

type Fields = Readonly<Record<string, unknown>>;

interface Options extends ServerOptions {
  readonly queue: string;
  readonly file?: string;
  readonly lines?: true;
  readonly requestId?: string;
  readonly requestIdPrefix?: string;
  /** True: without end. */
  readonly wait?: string | true;
  readonly delayMs?: string;
  readonly executionWindowMs?: string;
  readonly maxRetries?: string;
  readonly backoffMs?: string;
  readonly metadata?: string[];
}

const HELP = `
The payload is the argument, the file, or the standard input, byte for byte. Nothing is trimmed: a
line feed at the end is part of the payload. With --lines each line is a payload, without its line
feed. A carriage return before the line feed (CRLF) belongs to the payload, and so does a byte order
mark at the beginning.

Every submit has a request id, so that it can be sent again when its answer is lost. Without
--request-id the command makes one up. With --lines each line has the request id PREFIX:NUMBER. When
a line is refused, the standard error says which lines were submitted, and with which prefix. Run
the command again with that prefix to submit the other lines.`;

export function define(command: Command, io: Io): void {
  withServer(command)
    .argument('[payload]', 'the payload (default: the content of --file, or the standard input)')
    .option('--queue <queue>', 'the queue that the task waits in', 'default')
    .option('--file <file>', 'the file that holds the payload; - is the standard input')
    .option('--lines', 'submit each line of the input as a task')
    .option(
      '--request-id <id>',
      'a repeated submit with the same id returns the same task, as long as the task is remembered',
    )
    .option(
      '--request-id-prefix <prefix>',
      'with --lines: each line gets the request id PREFIX:NUMBER',
    )
    .option(
      '--wait [time]',
      'wait until the task has ended, at most this long; exit status 0 only if it is COMPLETED',
    )
    .option(
      '--delay-ms <time>',
      'how long the task must wait before it can be leased (10m, or milliseconds)',
    )
    .option('--execution-window-ms <time>', 'longest time that one attempt may hold its lease')
    .option('--max-retries <n>', 'attempts after the first one, before a failure ends the task')
    .option('--backoff-ms <time>', 'pause between a failure and the retry')
    .option(
      '--metadata <key=value>',
      'metadata that workers get with the task; may be repeated',
      collect,
    )
    .addHelpText('after', HELP)
    .action((payload: string | undefined, options: Options) => submit(payload, options, io));
}

async function submit(payload: string | undefined, options: Options, io: Io): Promise<void> {
  const fields = fieldsOf(options);
  const { lines, file, requestId, requestIdPrefix, wait } = options;
  if (payload !== undefined && (file !== undefined || lines === true)) {
    throw usage('give the payload as an argument or as an input (--file, --lines), not both');
  }
  if (lines === true && (requestId !== undefined || wait !== undefined)) {
    throw usage('--lines goes with --request-id-prefix, and not with --request-id or --wait');
  }
  if (lines !== true && requestIdPrefix !== undefined) {
    throw usage('--request-id-prefix needs --lines');
  }
  const waitMs = waitOf(wait);
  const server = new Server(options, io);
  try {
    if (lines === true) await submitLines(server, fields, options, io);
    else {
      const bytes =
        payload === undefined ? await readInput(file, io, 'the payload') : Buffer.from(payload);
      const task = await submitOne(server, { ...fields, ...bytesField('payload', bytes) }, options);
      if (waitMs === undefined) return show(task, options, io);
      await untilOver(server, task, waitMs, options, io);
    }
  } finally {
    server.close();
  }
}

/** @returns undefined: nobody waits. */
function waitOf(wait: Options['wait']): number | undefined {
  if (wait === undefined) return undefined;
  if (wait === true) return Number.POSITIVE_INFINITY;
  if (readDuration(wait) === undefined) {
    const hint = 'write the payload before --wait, or --wait=TIME';
    throw usage(`--wait: ${JSON.stringify(wait)} is no duration like 30s; ${hint}`);
  }
  return patienceMs('--wait', wait, 1, DURATION_MAX);
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

/** @returns the answer. @throws CliError, with the request id when its fate is not known. */
async function submitOne(server: Server, fields: Fields, options: Options): Promise<Fields> {
  const request_id = options.requestId ?? `cli-${randomBytes(9).toString('base64url')}`;
  try {
    const { body, resent } = await server.ask('submit', { ...fields, request_id });
    const task = successOf({ body }, options);
    // Of an id that was made up just now only we ourselves can have submitted it before.
    return resent && options.requestId === undefined ? { ...task, deduplicated: false } : task;
  } catch (error) {
    if (!(error instanceof CliError) || error.status !== EXIT.noServer) throw error;
    const again = `repeat it with --request-id ${request_id}: it is submitted once at most`;
    throw new CliError(error.status, `${error.message}; ${again}`);
  }
}

function show(task: Fields, options: Options, io: Io): void {
  if (options.json === true) return say(io.stdout, JSON.stringify(task));
  const again = task['deduplicated'] === true ? ' (submitted before)' : '';
  const { task_id, state, queue } = task;
  say(io.stdout, `${task_id} ${state} in queue ${queue}${again}, ${recordText(task)}`);
}
