// Owns `backup`: a consistent copy of a data directory, also of one that a server runs on, and the
// way out when a record is damaged: the sound part before it. Restoring is starting on the copy.

import type { Command } from 'commander';
import { noteRestored } from '../../actors/restored.ts';
import { copyLog } from '../log/copy-log.ts';
import { type Io, say, wholeNumber } from './command.ts';
import { dataDirOf, type OfflineOptions, withDataDir, wordsFor } from './offline.ts';
import { type Bar, openBar } from './record-bar.ts';

interface Options extends OfflineOptions {
  readonly until?: string;
}

export function define(command: Command, io: Io): void {
  withDataDir(command)
    .argument('<dir>', 'a new or empty directory for the copy')
    .option('--until <seq>', 'copy up to this record only, and say what is left behind')
    .action((target: string, options: Options) => backup(target, options, io));
}

async function backup(target: string, options: Options, io: Io): Promise<void> {
  const dataDir = dataDirOf(options, io);
  const { until } = options;
  const last =
    until === undefined ? undefined : wholeNumber('--until', until, 1, Number.MAX_SAFE_INTEGER);
  let bar: Promise<Bar> | undefined;
  try {
    const copied = await copyLog(dataDir, target, last, (records, of) => {
      bar ??= openBar(io, of);
      void bar.then((opened) => opened.update(records));
    });
    noteRestored(target);
    say(io.stdout, options.json === true ? jsonOf(copied) : text(copied, dataDir, target));
  } catch (error) {
    throw wordsFor(error, dataDir);
  } finally {
    (await bar)?.stop();
  }
}

type Copied = Awaited<ReturnType<typeof copyLog>>;

const jsonOf = ({ records, last, leftBehind }: Copied): string =>
  JSON.stringify({ records, last_sequence: last, left_behind: leftBehind });

function text({ records, last, leftBehind }: Copied, from: string, to: string): string {
  const rest =
    leftBehind === 0
      ? ''
      : `\nLeft behind: the records after ${last}, up to ${last + leftBehind}. ` +
        `\`leasehold log --data-dir ${from} --from ${last + 1}\` shows them as far as they go.`;
  return (
    `Copied ${records} records, the last is ${last}, to ${to}.${rest}\n` +
    `To restore: leasehold serve --data-dir ${to}. Its first record leaves a gap in the numbers, ` +
    'so that no lease id and no fencing token is issued twice.'
  );
}
