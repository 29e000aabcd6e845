// Owns what a tracer saw of a process: which bytes it wrote where, in the order in which the calls
// began and returned, as steps. What they mean for a disk or a client is for others to say.

import fs from 'node:fs';
import readline from 'node:readline';

/** A call that the proofs look at. Each is seen twice: when it begins and when it has returned. */
export interface Step {
  readonly phase: 'begins' | 'returned';
  readonly call: Call;
  /** The one that made the call. */
  readonly thread: number;
}

export type Call = Place &
  (
    | { readonly kind: 'write'; readonly at: number; readonly bytes: Buffer; ok: boolean }
    | { readonly kind: 'sync'; ok: boolean }
    | { readonly kind: 'truncate'; readonly size: number; ok: boolean }
    | { readonly kind: 'create'; ok: boolean }
    | { readonly kind: 'mkdir'; ok: boolean }
    | { readonly kind: 'remove'; ok: boolean }
    | { readonly kind: 'rename'; readonly to: string; ok: boolean }
  );

interface Place {
  /** A file's path, or what the kernel calls a socket or pipe. */
  readonly path: string;
  /** Each write is flushed before it returns. */
  readonly durable: boolean;
}

const CALLS =
  'openat,close,lseek,pwrite64,pwritev,write,writev,sendto,sendmsg,fdatasync,fsync,msync,' +
  'ftruncate,rename,renameat,renameat2,mkdir,mkdirat,unlink,unlinkat,rmdir,dup,dup2,dup3';

/** The words before the command that is to be traced. */
export const traced = (file: string): string[] => [
  ...['strace', '-f', '--seccomp-bpf', '-y', '-xx', '-s', '2000000'],
  ...['-e', `trace=${CALLS}`, '-e', 'signal=none', '-o', file],
];

const LINE = /^(\d+) +(?:<\.\.\. (\w+) resumed>(.*)|(\w+)\((.*))$/s;
const RESULT = /\) += (-?\d+)/;
const STRING = /"((?:\\x[0-9a-f]{2})*)"/g;

interface Descriptor {
  path: string;
  at: number;
  durable: boolean;
}

/** Reads a trace line by line. */
export async function* steps(file: string): AsyncGenerator<Step> {
  const reader = new TraceReader();
  const input = fs.createReadStream(file, 'latin1');
  for await (const line of readline.createInterface({ input })) yield* reader.take(line);
}

class TraceReader {
  private readonly begun = new Map<string, { text: string; call: Call | undefined }>();
  private readonly descriptors = new Map<number, Descriptor>();

  *take(line: string): Generator<Step> {
    const match = LINE.exec(line);
    if (match === null) return;
    const [, pid, resumed, rest = '', name = '', text = ''] = match as unknown as string[];
    if (resumed === undefined || resumed === '') {
      const call = this.callOf(name, text);
      if (call !== undefined) yield { phase: 'begins', call, thread: Number(pid) };
      if (text.endsWith('<unfinished ...>')) this.begun.set(`${pid}`, { text, call });
      else yield* this.returned(Number(pid), name, text, call);
      return;
    }
    const before = this.begun.get(`${pid}`);
    this.begun.delete(`${pid}`);
    if (before !== undefined)
      yield* this.returned(Number(pid), resumed, before.text + rest, before.call);
  }

  private *returned(
    thread: number,
    name: string,
    text: string,
    call: Call | undefined,
  ): Generator<Step> {
    const result = Number(RESULT.exec(text)?.[1] ?? -1);
    this.note(name, text, result);
    if (call === undefined) return;
    call.ok = result >= 0;
    yield { phase: 'returned', call, thread };
  }

  /** What the calls do to the numbers of open files. */
  private note(name: string, text: string, result: number): void {
    if (result < 0) return;
    if (name === 'openat') {
      const path = strings(text)[0]?.toString() ?? '';
      this.descriptors.set(result, { path, at: 0, durable: text.includes('O_DSYNC') });
    } else if (name === 'lseek') {
      this.descriptor(text).at = result;
    } else if (name === 'write' || name === 'writev') {
      this.descriptor(text).at += result;
    }
  }

  private callOf(name: string, text: string): Call | undefined {
    const place = this.placeOf(text);
    const named = { path: strings(text)[0]?.toString() ?? '', durable: false, ok: false };
    switch (name) {
      case 'write':
      case 'writev':
      case 'sendto':
      case 'sendmsg': {
        const bytes = Buffer.concat(strings(text));
        return { ...place, kind: 'write', at: this.descriptor(text).at, bytes };
      }
      case 'pwrite64':
      case 'pwritev': {
        const bytes = Buffer.concat(strings(text));
        const at = Number(/, (\d+)(?: <unfinished|\))/.exec(text)?.[1] ?? Number.NaN);
        if (Number.isNaN(at)) throw new Error(`no offset: ${text.slice(-80)}`);
        return { ...place, kind: 'write', at, bytes };
      }
      case 'fdatasync':
      case 'fsync':
        return { ...place, kind: 'sync' };
      case 'ftruncate':
        return { ...place, kind: 'truncate', size: Number(/, (\d+)/.exec(text)?.[1]) };
      case 'openat':
        return text.includes('O_CREAT') ? { ...named, kind: 'create' } : undefined;
      case 'mkdir':
        return { ...named, kind: 'mkdir' };
      case 'rmdir':
      case 'unlink':
      case 'unlinkat':
        return { ...named, kind: 'remove' };
      case 'rename':
        return { ...named, kind: 'rename', to: strings(text)[1]?.toString() ?? '' };
      case 'msync':
      case 'mkdirat':
      case 'renameat':
      case 'renameat2':
        throw new Error(`the model does not know ${name}: ${text.slice(0, 80)}`);
      default:
        return undefined;
    }
  }

  private placeOf(text: string): Place & { ok: boolean } {
    const path = /^\d+<((?:\\x[0-9a-f]{2}|[^>\\])*)>/.exec(text)?.[1] ?? '';
    const durable = this.descriptors.get(Number.parseInt(text, 10))?.durable ?? false;
    return { path: unhex(path).toString(), durable, ok: false };
  }

  private descriptor(text: string): Descriptor {
    const fd = Number.parseInt(text, 10);
    const known = this.descriptors.get(fd);
    if (known !== undefined) return known;
    const made = { path: '', at: 0, durable: false };
    this.descriptors.set(fd, made);
    return made;
  }
}

const strings = (text: string): Buffer[] =>
  [...text.matchAll(STRING)].map((match) => unhex(match[1] as string));

const unhex = (text: string): Buffer =>
  text.startsWith('\\x') ? Buffer.from(text.replaceAll('\\x', ''), 'hex') : Buffer.from(text);
