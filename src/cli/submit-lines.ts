// Owns `submit --lines`: many tasks in batches that fit the server's limits, each line under a
// request id. The command stops at the first batch with a refusal. However it ends, it prints
// which lines are submitted and the prefix with which the same command can go on.

import { randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import { monotonicMs, pause } from '../client/local-clock.ts';
import type { Wire } from '../client/transport.ts';
import { errnoText } from '../model/errno-text.ts';
import { BATCH_MAX } from '../model/limits.ts';
import { CliError, EXIT, type Io, say } from './command.ts';
import { bytesField, linesOf, openInput } from './input.ts';
import { LineAccount } from './line-account.ts';
import { openBar } from './progress-bar.ts';
import { successOf } from './refusals.ts';
import { type Server } from './server.ts';
import { type ServerOptions } from './server-options.ts';

export interface LinesOptions extends ServerOptions {
  readonly file?: string;
  readonly requestIdPrefix?: string;
}

const CHUNK_LINES = Math.min(500, BATCH_MAX);
const CHUNK_BYTES = 4 * 1024 * 1024;
/** What surrounds a request in a batch, on HTTP and on the socket. */
const ENVELOPE_BYTES = 128;
const PAUSE_MS = 500;
/** As a shell has it for Ctrl-C. */
const INTERRUPTED = 130;

interface Chunk {
  readonly calls: { readonly op: 'submit'; readonly params: Wire }[];
  /** Of the input, with line feeds. */
  inputBytes: number;
  /** Of the request. */
  wireBytes: number;
}

/** @throws CliError when a line was refused, or is not known to be submitted. */
export async function submitLines(
  server: Server,
  fields: Wire,
  options: LinesOptions,
  io: Io,
): Promise<void> {
  const source = openInput(options.file, io, 'one task a line');
  const prefix = options.requestIdPrefix ?? `lines-${randomBytes(9).toString('base64url')}`;
  const maxBytes = await chunkMaxBytes(server, options);
  const bar = await openBar(io, { total: source.bytes, things: 'tasks' });
  const account = new LineAccount(prefix);
  const interrupted = (): void => {
    bar.stop();
    say(io.stderr, account.broken('interrupted', options.json === true));
    process.exit(INTERRUPTED);
  };
  process.once('SIGINT', interrupted);
  let inputBytes = 0;
  try {
    for await (const chunk of chunksOf(source.stream, fields, prefix, maxBytes)) {
      account.sending(chunk.calls.length);
      const bodies = await send(server, chunk.calls);
      account.add(bodies);
      if (options.json === true)
        say(io.stdout, bodies.map((body) => JSON.stringify(body)).join('\n'));
      inputBytes += chunk.inputBytes;
      bar.update(inputBytes, account.submitted);
      if (account.refused > 0) break;
    }
  } catch (error) {
    const { status, message } = inWords(error, options);
    throw new CliError(status, account.broken(message, options.json === true));
  } finally {
    bar.stop();
    process.off('SIGINT', interrupted);
    source.stream.destroy();
  }
  if (account.refused > 0) {
    throw new CliError(account.status, account.refusals(options.json === true));
  }
  if (options.json !== true) say(io.stdout, account.done());
}

/** An input that cannot be read on is an end like others; a bug is not. */
function inWords(error: unknown, { file = 'standard input' }: LinesOptions): CliError {
  if (error instanceof CliError) return error;
  if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
  return new CliError(EXIT.failed, `${file}: ${errnoText(error)}`);
}

/** The server's own bound on a batch, less what a batch needs itself. */
async function chunkMaxBytes(server: Server, options: ServerOptions): Promise<number> {
  const config = successOf(await server.ask('config', {}), options);
  const { value } = (config['batch_max_bytes'] ?? {}) as { value?: unknown };
  const bound = typeof value === 'number' ? value : CHUNK_BYTES;
  return Math.min(bound - ENVELOPE_BYTES, CHUNK_BYTES);
}

async function* chunksOf(
  stream: Readable,
  fields: Wire,
  prefix: string,
  maxBytes: number,
): AsyncGenerator<Chunk> {
  const empty = (): Chunk => ({ calls: [], inputBytes: 0, wireBytes: 0 });
  let chunk = empty();
  let number = 0;
  for await (const line of linesOf(stream)) {
    number += 1;
    const request_id = `${prefix}:${number}`;
    const params = { ...fields, ...payloadOf(line, number), request_id };
    const wireBytes = Buffer.byteLength(JSON.stringify(params)) + ENVELOPE_BYTES;
    if (chunk.calls.length > 0 && chunk.wireBytes + wireBytes > maxBytes) {
      yield chunk;
      chunk = empty();
    }
    chunk.calls.push({ op: 'submit', params });
    chunk.inputBytes += line.length + 1;
    chunk.wireBytes += wireBytes;
    if (chunk.calls.length < CHUNK_LINES) continue;
    yield chunk;
    chunk = empty();
  }
  if (chunk.calls.length > 0) yield chunk;
}

/** @throws CliError naming the line, when no server would take it. */
function payloadOf(line: Buffer, number: number): Record<string, string> {
  try {
    return bytesField('payload', line);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    throw new CliError(error.status, `line ${number}: ${error.message}`);
  }
}

/** Answers in the order of the calls. What is UNAVAILABLE is sent again until it is not. */
async function send(server: Server, calls: Chunk['calls']): Promise<Wire[]> {
  const bodies: Wire[] = [];
  const endsAt = monotonicMs() + server.timeoutMs;
  let open = calls.map((call, index) => ({ call, index }));
  for (;;) {
    const got = await exchange(
      server,
      open.map(({ call }) => call),
    );
    const left: typeof open = [];
    open.forEach((each, i) => {
      const body = got[i] as Wire;
      const isAgain = body['outcome'] === 'UNAVAILABLE' && monotonicMs() < endsAt;
      if (isAgain) left.push(each);
      else bodies[each.index] = body;
    });
    if (left.length === 0) return bodies;
    open = left;
    await pause(PAUSE_MS);
  }
}

/** A lone one takes the route of a lone request: it may be larger there than in a batch. */
async function exchange(server: Server, calls: Chunk['calls']): Promise<Wire[]> {
  const [first] = calls as [Chunk['calls'][number]];
  if (calls.length === 1) return [(await server.ask(first.op, first.params)).body];
  const { bodies } = await server.batch(calls);
  if (bodies.length === calls.length) return bodies;
  throw new CliError(EXIT.failed, 'the answer to a batch has not as many parts as the batch');
}
