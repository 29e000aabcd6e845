// Owns `verify`: reads every record of a data directory, checks it as a start of the server would,
// and prints the findings. The command changes nothing, and works beside a running server.

import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { plural } from '../explain/names.ts';
import { CliError, EXIT, type Io, say } from './command.ts';
import { corruptText, dataDirOf, type OfflineOptions, whereHint, withDataDir } from './offline.ts';
import { type Bar, openBar } from './progress-bar.ts';
import type { FromVerify, Verified } from './verify-child.ts';
import { durationText } from './words.ts';

export function define(command: Command, io: Io): void {
  withDataDir(command)
    .addHelpText(
      'after',
      '\nExit status 1 when a record is damaged or contradicts the others; the record is named.',
    )
    .action((options: OfflineOptions) => verify(options, io));
}

type Bad = Extract<FromVerify, { kind: 'bad' }>;

async function verify(options: OfflineOptions, io: Io): Promise<void> {
  const dataDir = dataDirOf(options, io);
  const found = await readApart(dataDir, io);
  if (found.kind === 'bad') throw new CliError(EXIT.failed, badText(found, dataDir, options));
  say(io.stdout, options.json === true ? JSON.stringify(jsonOf(found)) : text(found, dataDir));
}

/** Runs the reading in a child and waits for its word, or for its death. */
async function readApart(dataDir: string, io: Io): Promise<Verified | Bad> {
  const suffix = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
  const file = fileURLToPath(new URL(`./verify-child${suffix}`, import.meta.url));
  const child = fork(file, [dataDir], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  let bar: Promise<Bar> | undefined;
  let read = 0;
  let last: Verified | Bad | undefined;
  let complaint = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    complaint = (complaint + String(chunk)).slice(-2_000);
  });
  child.on('message', (message: FromVerify) => {
    if (message.kind !== 'progress') {
      last = message;
      return;
    }
    read = message.records;
    bar ??= openBar(io, { total: message.of, things: 'records' });
    void bar.then((shown) => shown.update(message.records));
  });
  const [status, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) => {
    child.once('close', (...how) => resolve(how));
  });
  (await bar)?.stop();
  if (last !== undefined) return last;
  const how = signal === null ? `exit status ${status}` : signal;
  const why = complaint.trim().split('\n').at(-1) ?? '';
  const message = `reading ended by ${how} after ${plural(read, 'record')} or more ${why}`.trim();
  return { kind: 'bad', code: 'LOG_IO', message };
}

function badText(bad: Bad, dataDir: string, { json }: OfflineOptions): string {
  const { seq, code, message } = bad;
  if (json === true) return JSON.stringify({ ok: false, code, record: seq, message });
  return seq === undefined
    ? `leasehold: ${code}: ${message}${whereHint(message, dataDir)}`
    : corruptText({ seq, message }, dataDir);
}

const rateOf = ({ records, replayMs }: Verified): number =>
  Math.round((records / Math.max(replayMs, 1)) * 1_000);

const jsonOf = (found: Verified): Record<string, unknown> => ({
  ok: true,
  digest: found.digest,
  records: found.records,
  last_sequence: found.lastSequence,
  log_bytes: found.bytes,
  replay_ms: Math.round(found.replayMs),
  records_per_second: rateOf(found),
});

const text = (found: Verified, dataDir: string): string =>
  `${dataDir}: good. ${plural(found.records, 'record')}, the last is ${found.lastSequence}, ` +
  `${(found.bytes / 1_048_576).toFixed(1)} MiB.\n` +
  `Replayed in ${durationText(Math.round(found.replayMs))}, ${rateOf(found)} records/s. ` +
  `Digest of the state: ${found.digest}`;
