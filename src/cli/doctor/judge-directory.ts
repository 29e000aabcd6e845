// Owns what `doctor` thinks of a data directory, from facts that were read or measured. It reads
// nothing itself.

import { plural } from '../../explain/names.ts';
import { durationText } from '../../model/time-text.ts';
import { type Finding, judged, msText, sizeText } from './finding.ts';
import type { FlushTimes } from './flush-time.ts';
import { fileLimit } from './judge-server.ts';

export interface DirectoryFacts {
  /** A server runs on it. */
  readonly isServed: boolean;
  /** Why it could not be measured, or the times. */
  readonly flush: FlushTimes | string;
  /** `nfs`, `tmpfs`, `overlay`; undefined: another one, or not known. */
  readonly fileSystem: string | undefined;
  readonly freeBytes: number;
  readonly totalBytes: number;
  /** undefined: the system does not say. */
  readonly maxFiles: number | undefined;
  /** What is wrong with the log, or what its end says. */
  readonly log: LogFacts | string;
}

export interface LogFacts {
  /** How many the log holds. */
  readonly records: number;
  /** Records that were read, back from the newest. */
  readonly looked: number;
  readonly bytes: number;
  /** Whether history was ever removed. */
  readonly wasShortened: boolean;
  /** Time of the newest record minus the wall clock; undefined: there is none. */
  readonly newestAheadMs: number | undefined;
  /** Among the records that were read: how often in a row the leases of one task ran out. */
  readonly expiries: { readonly taskId: string; readonly count: number } | undefined;
  readonly poisonThreshold: number;
}

const GIB = 2 ** 30;
const YEAR_MS = 365 * 86_400_000;

export function judgeDirectory(facts: DirectoryFacts): Finding[] {
  const { log, maxFiles } = facts;
  return [
    served(facts),
    logEnd(facts),
    flush(facts),
    ...fileSystem(facts),
    space(facts),
    ...(maxFiles === undefined ? [] : [fileLimit(maxFiles)]),
    ...(typeof log === 'string' ? [] : [clock(log), poison(log), retention(log)]),
  ];
}

const served = ({ isServed }: DirectoryFacts): Finding => ({
  check: 'in use',
  verdict: 'ok',
  figure: isServed
    ? 'a server runs on it: it is only read. Ask the server, too: leasehold doctor URL'
    : 'no server runs on it',
  page: 'doctor',
});

function logEnd({ log }: DirectoryFacts): Finding {
  if (typeof log === 'string') return { check: 'log', verdict: 'bad', figure: log, page: 'wrong' };
  const { records, looked } = log;
  const of = plural(records, 'record is', 'records are');
  const figure = `the last ${looked} of ${of} sound; verify reads all`;
  return { check: 'log', verdict: 'ok', figure, page: 'doctor' };
}

function flush({ flush: found }: DirectoryFacts): Finding {
  const check = 'disk flush';
  if (typeof found === 'string') {
    return { check, verdict: 'look', figure: `not measured: ${found}`, page: 'doctor' };
  }
  const { medianMs, mostMs, rounds } = found;
  const took = `${msText(medianMs)}, at most ${msText(mostMs)} (${rounds} writes of 4 KiB)`;
  if (medianMs < 0.01) {
    const figure = `${took}: so fast that it reaches no device`;
    return { check, verdict: 'look', figure, page: 'run' };
  }
  return { check, verdict: judged(medianMs, { look: 25, bad: 250 }), figure: took, page: 'alerts' };
}

function fileSystem({ fileSystem: name }: DirectoryFacts): Finding[] {
  const check = 'file system';
  const why = name === undefined ? undefined : UNFIT[name];
  return why === undefined ? [] : [{ check, verdict: why[0], figure: why[1], page: 'run' }];
}

const UNFIT: Readonly<Record<string, readonly ['look' | 'bad', string]>> = {
  nfs: ['bad', 'it is NFS, which is no place for a log: use a local file system'],
  tmpfs: ['bad', 'it is memory (tmpfs): everything is lost when the machine restarts'],
  overlay: ['look', "it is a container's own layer, and goes with the container: use a volume"],
};

function space({ freeBytes, totalBytes }: DirectoryFacts): Finding {
  const percent = Math.floor((freeBytes / Math.max(1, totalBytes)) * 100);
  const figure = `${sizeText(freeBytes)} free, ${percent} % of ${sizeText(totalBytes)}`;
  const isLittle = freeBytes < GIB || percent < 5;
  const verdict = freeBytes < GIB / 16 ? 'bad' : isLittle ? 'look' : 'ok';
  return { check: 'free space', verdict, figure, page: 'alerts' };
}

function clock({ newestAheadMs: ahead }: LogFacts): Finding {
  const check = 'clock';
  const page = 'alerts';
  if (ahead === undefined) return { check, verdict: 'ok', figure: 'the log is empty', page };
  const off = durationText(Math.abs(ahead));
  if (ahead > 1_000) {
    const figure = `the newest record is ${off} ahead of the wall clock here`;
    return { check, verdict: ahead > 3_600_000 ? 'bad' : 'look', figure, page };
  }
  const figure = `the newest record is ${ahead > 0 ? '0 ms' : off} old by the wall clock here`;
  if (ahead > -YEAR_MS) return { check, verdict: 'ok', figure, page };
  return { check, verdict: 'bad', figure: `${figure}: a start would be refused`, page: 'wrong' };
}

function poison({ expiries, poisonThreshold: most, looked }: LogFacts): Finding {
  const check = 'poison';
  const page = 'wrong';
  const count = expiries?.count ?? 0;
  if (expiries === undefined || most === 0 || count < Math.max(2, most / 2)) {
    const among = plural(looked, 'record');
    const figure = `no task is near ${most} expiries in a row in the last ${among}`;
    return { check, verdict: 'ok', figure, page };
  }
  const figure = `leases of ${expiries.taskId} ran out ${count} times in a row; ${most} end it`;
  return { check, verdict: count >= most - 1 ? 'bad' : 'look', figure, page };
}

function retention({ bytes, wasShortened }: LogFacts): Finding {
  const isOff = !wasShortened && bytes > 10 * GIB;
  const never = wasShortened ? '' : '; history was never removed from it';
  const figure = `the log has ${sizeText(bytes)}${never}`;
  return { check: 'retention', verdict: isOff ? 'look' : 'ok', figure, page: 'retention' };
}
