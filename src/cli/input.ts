// Owns the reading of bytes that a user passes in: from a file, or from the standard input.

import { createReadStream, readFileSync, statSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { errnoText } from '../model/errno-text.ts';
import { CliError, EXIT, type Io, say, usage } from './command.ts';

/** @param what is read, for who sits before a terminal. @throws CliError with the usage status */
export async function readInput(
  file: string | undefined,
  { stdin, stderr }: Io,
  what: string,
): Promise<Buffer> {
  if (file !== undefined && file !== '-') {
    try {
      return readFileSync(file);
    } catch (error) {
      throw usage(`--file ${file}: ${errnoText(error)}`);
    }
  }
  tellTerminal(stdin, stderr, what);
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** Who typed the command alone is told that it waits, and for what. */
function tellTerminal(stdin: Io['stdin'], stderr: Io['stderr'], what: string): void {
  if (stdin.isTTY)
    say(stderr, `reading ${what} from the terminal; Ctrl-D on a line of its own ends it`);
}

export interface Source {
  readonly stream: Readable;
  /** Undefined: not known beforehand. */
  readonly bytes: number | undefined;
}

/** The same input, for reading it in pieces. */
export function openInput(file: string | undefined, { stdin, stderr }: Io, what: string): Source {
  if (file === undefined || file === '-') {
    tellTerminal(stdin, stderr, what);
    return { stream: stdin, bytes: undefined };
  }
  try {
    const { size } = statSync(file);
    return { stream: createReadStream(file), bytes: size };
  } catch (error) {
    throw usage(`--file ${file}: ${errnoText(error)}`);
  }
}

/** The most that --payload-max-bytes can be: more is refused here, and not after it was sent. */
const BYTES_MAX = 64 * 1024 * 1024;

/** @returns the member that carries the bytes: as text when they are one, else as base64. */
export function bytesField(name: string, bytes: Uint8Array): Record<string, string> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (buffer.length > BYTES_MAX) {
    const size = `the ${name} has ${buffer.length} bytes`;
    const text = `REJECTED too_large: ${size}; no server takes more than ${BYTES_MAX}.`;
    throw new CliError(EXIT.failed, text);
  }
  const text = buffer.toString('utf8');
  if (Buffer.from(text, 'utf8').equals(buffer)) return { [name]: text };
  return { [`${name}_base64`]: buffer.toString('base64') };
}

const LINE_FEED = 0x0a;

/** Lines as bytes, without their line feeds; what follows the last one is a line unless empty. */
export async function* linesOf(stream: Readable): AsyncGenerator<Buffer> {
  let rest: Buffer[] = [];
  for await (const chunk of stream) {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : (chunk as Buffer);
    let from = 0;
    for (let at = bytes.indexOf(LINE_FEED); at >= 0; at = bytes.indexOf(LINE_FEED, from)) {
      rest.push(bytes.subarray(from, at));
      yield rest.length === 1 ? (rest[0] as Buffer) : Buffer.concat(rest);
      rest = [];
      from = at + 1;
    }
    if (from < bytes.length) rest.push(bytes.subarray(from));
  }
  if (rest.length > 0) yield Buffer.concat(rest);
}
