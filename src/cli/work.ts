// Owns `work`: any command as a worker. The Worker keeps the contract. This file connects the
// Worker to a command, to the terminal, and to the signals that stop it.

import type { Command } from 'commander';
import { Client } from '../client/client.ts';
import { LeaseholdError, RefusedError } from '../client/errors.ts';
import { payloadMaxBytes } from '../client/result-limit.ts';
import { onStopSignals } from '../client/stop-signals.ts';
import { TransportFailure } from '../client/transport.ts';
import { Worker } from '../client/worker.ts';
import { plural } from '../explain/names.ts';
import { lineText } from '../model/safe-text.ts';
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
import { ignoreDebuggerSignal } from './debugger-signal.ts';
import { execHandler } from './exec-handler.ts';
import { execRun } from './exec-run.ts';
import { flagWords } from './refusals.ts';
import { DEFAULT_URL, tokenOf } from './server-options.ts';
import { failureOf, troubleText } from './trouble.ts';
import { tellTrouble } from './work-trouble.ts';

interface Options {
  readonly exec: string;
  readonly queue?: string[];
  readonly concurrency: string;
  readonly once?: boolean;
  readonly worker?: string;
  readonly graceMs: string;
  readonly url?: string;
  readonly tokenFile?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

const HELP = `
The command gets the payload on stdin, and LEASEHOLD_TASK_ID, LEASEHOLD_LEASE_ID,
LEASEHOLD_ATTEMPT, LEASEHOLD_FENCING_TOKEN and LEASEHOLD_QUEUE in its environment. While the
command runs, work sends the heartbeats. The exit status of the command decides what work reports:
  0      complete, with stdout as the result; a result that is too large is never cut, but
         reported as fail, permanent
  65     fail, permanent: no further attempt
  other  fail, with the end of stderr as the reason
When the lease is lost, the whole process group of the command is ended: TERM, then KILL.
When a command cannot be started (no shell, no memory), the task is given back, and the
attempt is not charged.
INT, TERM, HUP and QUIT stop work; a second signal ends the grace time. npx delivers each
Ctrl-C twice, so two within half a second count as one. While work is suspended (Ctrl-Z), its
commands are suspended too.

Exit status of work: 0 stopped by a signal, or --once and nothing is left to lease;
1 a report was REJECTED, the token is wrong, or no command can be started here; 2 usage;
3 no server at the start.`;

const CONCURRENCY_MAX = 1_000;
const GRACE_MAX_MS = 3_600_000;
/** From TERM to KILL of a command; TERM to us must end within five seconds. */
const KILL_AFTER_MS = 1_000;
const ABORT_MS = 1_800;
const RESULT_MAX_BYTES = 1_048_576;

export function define(command: Command, io: Io): void {
  command
    .requiredOption('--exec <command>', 'the shell command to run for each task')
    .option(
      '--queue <queue>',
      'lease from this queue; may be repeated (default "default")',
      collect,
    )
    .option('--concurrency <n>', 'how many tasks to work on at a time', '1')
    .option('--once', 'end when no task is left to lease')
    .option('--worker <id>', 'the name of the worker (default host:pid:random)')
    .option(
      '--grace-ms <time>',
      'how long commands may go on after a signal, in milliseconds or with a unit',
      '1500',
    )
    .option(
      '--url <url>',
      `the server, as http:, https:, tcp: or unix: (default LEASEHOLD_URL, else ${DEFAULT_URL})`,
    )
    .option('--token-file <file>', 'file with the token (default LEASEHOLD_TOKEN)')
    .option('--json', 'print one JSON object a line for each event')
    .option('--quiet', 'print only errors')
    .addHelpText('after', HELP)
    .action(async (options: Options) => work(options, io));
}

async function work(options: Options, io: Io): Promise<void> {
  const { exec: command, queue, worker: workerId } = options;
  // A variable that is not set must not fail every task that there is.
  if (command.trim() === '') throw usage('--exec: the command is empty');
  const concurrency = wholeNumber('--concurrency', options.concurrency, 1, CONCURRENCY_MAX);
  const graceMs = durationMs('--grace-ms', options.graceMs, 0, GRACE_MAX_MS);
  const given = options.url ?? io.env['LEASEHOLD_URL'] ?? DEFAULT_URL;
  const url = given.split(',').map((one) => one.trim());
  const token = tokenOf(options, io);
  const resultMaxBytes = await askResultMaxBytes(url, token);
  const worker = new Worker({
    url,
    token,
    concurrency,
    handler: execHandler({ command, resultMaxBytes, killAfterMs: KILL_AFTER_MS }),
    ...(queue === undefined ? {} : { queues: queue }),
    ...(workerId === undefined ? {} : { workerId }),
  });
  let rejections = 0;
  worker.on('rejected', () => {
    rejections += 1;
  });
  tell(worker, options, io);
  tellTrouble(worker, given, io.stderr);
  // Whoever asks again wants it now: leases are still given back, and commands ended.
  ignoreDebuggerSignal(() => say(io.stderr, 'leasehold: SIGUSR1 is ignored'));
  const endSignals = onStopSignals((wish) => {
    void worker.stop({ graceMs: wish === 'first' ? graceMs : 0, abortMs: ABORT_MS });
  });
  try {
    await assertShell();
    await worker.run({ untilEmpty: options.once ?? false });
  } catch (error) {
    throw new CliError(statusOf(error), flagWords((error as Error).message));
  } finally {
    endSignals();
  }
  if (rejections > 0)
    throw new CliError(EXIT.failed, `${plural(rejections, 'report was', 'reports were')} REJECTED`);
}

/** A queue or a name that the server finds malformed was written wrongly here. */
const statusOf = (error: unknown): number =>
  error instanceof RefusedError && error.refusal.reason === 'malformed' ? EXIT.usage : EXIT.failed;

/** No task is leased on a machine on which no command can be started. */
async function assertShell(): Promise<void> {
  await execRun({
    command: 'exit 0',
    payload: Buffer.alloc(0),
    env: {},
    stdoutMaxBytes: 0,
    signal: new AbortController().signal,
    stillMine: async () => true,
    killAfterMs: KILL_AFTER_MS,
  });
}

/** Also tells whether there is a server at all: a wrong address must not wait for ever. */
async function askResultMaxBytes(
  url: readonly string[],
  token: string | undefined,
): Promise<number> {
  const client = clientOf(url, token);
  try {
    return payloadMaxBytes(await client.config()) ?? RESULT_MAX_BYTES;
  } catch (error) {
    const { code, message, cause } = error as LeaseholdError;
    if (code !== 'UNREACHABLE') throw failureOf(error, url.join());
    const why = cause instanceof TransportFailure ? troubleText(cause) : message;
    throw new CliError(EXIT.noServer, `no answer from ${url}: ${why}`);
  } finally {
    client.close();
  }
}

function clientOf(url: readonly string[], token: string | undefined): Client {
  try {
    return new Client({ url, token, retries: 3 });
  } catch (error) {
    throw error instanceof LeaseholdError ? usage(`--url: ${error.message}`) : error;
  }
}

/** Everything that happens, one line each on stderr: stdout stays free. */
function tell(worker: Worker, { json, quiet }: Options, { stderr }: Io): void {
  const line = (event: string, task: { taskId: string; leaseId: string }, more: object): void => {
    if (json === true) {
      const { taskId, leaseId } = task;
      say(stderr, JSON.stringify({ event, task_id: taskId, lease_id: leaseId, ...more }));
    } else if (quiet !== true) {
      const facts = Object.entries(more).map(([name, value]) => `${name} ${lineText(value)}`);
      say(stderr, [`${task.taskId} ${task.leaseId} ${event}`, ...facts].join(', '));
    }
  };
  worker.on('leased', ({ task }) => line('leased', task, { attempt: task.attempt }));
  worker.on('completed', ({ task, outcome }) =>
    line('completed', task, { record: outcome.record }),
  );
  worker.on('failed', ({ task, outcome, failure }) => {
    const { record, taskState: task_state } = outcome;
    line('failed', task, { record, task_state, reason: failure.reason });
  });
  worker.on('released', ({ task, outcome }) => line('released', task, { record: outcome.record }));
  worker.on('lost', ({ task, reason }) => line('lost', task, { reason }));
  worker.on('rejected', ({ task, outcome }) => line('REJECTED', task, { reason: outcome.reason }));
}
