// Owns `backup`: a consistent copy of a data directory, also while a server runs on it, or only
// the records that an earlier copy lacks. When a record is damaged, the command copies the sound
// part before that record. To restore, start a server on the copy.

import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, statSync } from 'node:fs';
import type { Command } from 'commander';
import { noteRestored, skipOf } from '../../actors/supervisor/restored.ts';
import { ClusterError } from '../cluster/cluster-error.ts';
import { type MirrorNote, readMirrorNote, writeMirrorNote } from '../cluster/mirror-note.ts';
import { plural } from '../explain/names.ts';
import { type Copied, copyLog } from '../log/copy-log.ts';
import type { Begin } from '../log/copy-wire.ts';
import { LogError } from '../log/log.ts';
import { backupFrom } from './backup-from.ts';
import { type Io, say, usage, wholeNumber } from './command.ts';
import { dataDirOf, type OfflineOptions, withDataDir, wordsFor } from './offline.ts';
import { type Bar, openBar } from './progress-bar.ts';

interface Options extends OfflineOptions {
  readonly until?: string;
  readonly node?: boolean;
  readonly from?: string;
  readonly tokenFile?: string;
}

export function define(command: Command, io: Io): void {
  withDataDir(command)
    .argument('<dir>', 'a new or empty directory, or an earlier backup to bring up to date')
    .option('--until <record>', 'copy only the records up to this one, and report what is left out')
    .option('--node', 'make the copy for another node of the same cluster')
    .option('--from <url>', 'copy the log of the server that runs there, over HTTP')
    .option('--token-file <file>', 'file with the token for --from (default LEASEHOLD_TOKEN)')
    .action((target: string, options: Options) =>
      options.from === undefined
        ? backup(target, options, io)
        : overHttp(options.from, target, options, io),
    );
}

async function overHttp(from: string, target: string, options: Options, io: Io): Promise<void> {
  const { until, dataDir, tokenFile, json } = options;
  if (until !== undefined || dataDir !== undefined) {
    throw usage('leasehold: --from copies the whole log of a server: no --data-dir, no --until');
  }
  let note: MirrorNote | undefined;
  let bar: Promise<Bar> | undefined;
  const beside = (directory: string, { cluster }: Begin): void => {
    if (options.node !== true) return noteRestored(directory);
    if (cluster === undefined) {
      const why = `${from} belongs to no cluster`;
      throw new ClusterError('CLUSTER_MIRROR', `--node copies the log of a node: ${why}`);
    }
    // Under the name that the sender gave to it, etcd keeps what this copy lacks.
    note = { mirror: randomUUID(), ...cluster };
    writeMirrorNote(directory, note);
  };
  const onProgress = (record: number, of: number): void => {
    bar ??= openBar(io, { total: of, things: 'records' });
    void bar.then((opened) => opened.update(record));
  };
  try {
    const copied = await backupFrom(from, target, tokenFile, { beside, onProgress }, io);
    const next = note === undefined ? restoring(target) : joining(target, note);
    say(io.stdout, json === true ? jsonOf(copied) : text(copied, from, target, next));
  } finally {
    (await bar)?.stop();
  }
}

async function backup(target: string, options: Options, io: Io): Promise<void> {
  const dataDir = dataDirOf(options, io);
  const { until } = options;
  const last =
    until === undefined ? undefined : wholeNumber('--until', until, 1, Number.MAX_SAFE_INTEGER);
  let bar: Promise<Bar> | undefined;
  try {
    const note = options.node === true ? noteFor(dataDir, target, until) : undefined;
    if (note === undefined) assertCopy(target);
    const copied = await copyLog(dataDir, target, {
      until: last,
      begin: () => (note === undefined ? noteRestored(target) : writeMirrorNote(target, note)),
      onProgress: (records, of) => {
        bar ??= openBar(io, { total: of, things: 'records' });
        void bar.then((opened) => opened.update(records));
      },
    });
    const next = note === undefined ? restoring(target) : joining(target, note);
    say(io.stdout, options.json === true ? jsonOf(copied) : text(copied, dataDir, target, next));
  } catch (error) {
    throw wordsFor(error, dataDir, ', or name a running server with --from URL');
  } finally {
    (await bar)?.stop();
  }
}

/**
 * A node goes on with a whole copy under the numbers of its cluster, and leaves no gap.
 * @throws LogError, ClusterError
 */
function noteFor(dataDir: string, target: string, until: string | undefined): MirrorNote {
  const note = readMirrorNote(dataDir);
  if (note === undefined || until !== undefined) {
    const why = until === undefined ? `${dataDir} belongs to no cluster` : 'it takes no --until';
    throw new ClusterError('CLUSTER_MIRROR', `--node copies the directory of a node: ${why}`);
  }
  if (existsSync(target) && readdirSync(target).length > 0) {
    throw new LogError('LOG_DIRECTORY', `${target} is not empty; choose a new directory`);
  }
  return { ...note, mirror: randomUUID() };
}

/** A copy that something was started on is a log of its own; what it holds must not be lost. */
function assertCopy(target: string): void {
  if (!existsSync(target)) return;
  if (!statSync(target).isDirectory()) {
    throw new LogError('LOG_DIRECTORY', `${target} is no directory`);
  }
  if (readdirSync(target).length === 0 || skipOf(target) > 0) return;
  throw new LogError(
    'LOG_DIRECTORY',
    `${target} is not empty; choose a new directory, or a backup that nothing was started on`,
  );
}

const jsonOf = (copied: Copied): string =>
  JSON.stringify({
    records: copied.records,
    last_sequence: copied.last,
    left_behind: copied.leftBehind,
    gone_by: copied.goneBy,
    segments_copied: copied.segmentsCopied,
    segments_skipped: copied.segmentsSkipped,
  });

function text(copied: Copied, from: string, to: string, next: string): string {
  const { records, last, leftBehind, goneBy, segmentsCopied, segmentsSkipped } = copied;
  const rest =
    leftBehind === 0
      ? ''
      : `\nLeft behind: the records after ${last}, up to ${last + leftBehind}. ` +
        `\`leasehold log --data-dir ${from} --from ${last + 1}\` shows them as far as they go.`;
  const gone =
    goneBy === 0
      ? ''
      : `\nNot in it: the tasks that were forgotten up to record ${goneBy}. Their history is ` +
        'removed, and only an archive has it.';
  return (
    `${to} holds ${plural(records, 'record')}, the last is ${last}: ` +
    `${plural(segmentsCopied, 'segment was', 'segments were')} copied, ` +
    `${plural(segmentsSkipped, 'was', 'were')} there already.${rest}${gone}\n${next}`
  );
}

const restoring = (to: string): string =>
  `To restore: leasehold serve --data-dir ${to}. Its first record leaves a gap in the numbers, ` +
  'so that no lease id and no fencing token is issued twice.';

const joining = (to: string, { cluster }: MirrorNote): string =>
  `To run a node on it: leasehold serve --data-dir ${to} --cluster-name ${cluster}, with --etcd, ` +
  '--node-name and --advertise-url. It copies what has happened since from etcd.';
