// Owns `submit --lines`: many tasks in batches. A line that was refused for the moment is sent
// again, for a bounded time; with a request id prefix the whole command can be run again.

import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { CliError, EXIT, type Io, say } from './command.ts';
import { type Answer, refusalText, type Server, type ServerOptions, successOf } from './http.ts';
import { bytesField, linesOf, openInput } from './input.ts';
import { openProgress } from './progress-bar.ts';

interface Options extends ServerOptions {
  readonly file?: string;
  readonly requestIdPrefix?: string;
}
type Fields = Readonly<Record<string, unknown>>;

const CHUNK_LINES = 500;
const CHUNK_BYTES = 4 * 1024 * 1024;
const TRIES = 30;
const PAUSE_MS = 1_000;

interface Chunk {
  requests: Fields[];
  bytes: number;
}

/** @throws CliError when a line was refused for good; the lines before it are submitted. */
export async function submitLines(
  server: Server,
  fields: Fields,
  options: Options,
  io: Io,
): Promise<void> {
  const source = openInput(options.file, io);
  const progress = await openProgress(io, source.bytes);
  const tally = new Tally(options, io);
  try {
    for await (const chunk of chunksOf(source.stream, fields, options.requestIdPrefix)) {
      const answers = await send(server, chunk.requests, options);
      tally.add(answers);
      progress.advance(chunk.requests.length, chunk.bytes);
    }
  } finally {
    progress.stop();
  }
  tally.tell();
}

async function* chunksOf(
  stream: Readable,
  fields: Fields,
  prefix: string | undefined,
): AsyncGenerator<Chunk> {
  let chunk: Chunk = { requests: [], bytes: 0 };
  let number = 0;
  for await (const line of linesOf(stream)) {
    number += 1;
    const named = prefix === undefined ? {} : { request_id: `${prefix}:${number}` };
    chunk.requests.push({ op: 'submit', ...fields, ...bytesField('payload', line), ...named });
    chunk.bytes += line.length + 1;
    if (chunk.requests.length < CHUNK_LINES && chunk.bytes < CHUNK_BYTES) continue;
    yield chunk;
    chunk = { requests: [], bytes: 0 };
  }
  if (chunk.requests.length > 0) yield chunk;
}

/** Answers in the order of the requests. What is UNAVAILABLE is sent again until it is not. */
async function send(
  server: Server,
  requests: readonly Fields[],
  options: Options,
): Promise<Fields[]> {
  const answers: Fields[] = [];
  let open = requests.map((request, index) => ({ request, index }));
  for (let tried = 0; open.length > 0; tried++) {
    if (tried > 0) await pause(PAUSE_MS);
    const answer = await server.post('/v1/batch', { requests: open.map(({ request }) => request) });
    const again = (body: Fields): boolean => tried < TRIES && mayRepeat(body, options);
    if (answer.body !== undefined && again(answer.body)) continue;
    const given = (successOf(answer, options) as { answers: Fields[] }).answers;
    const left: typeof open = [];
    open.forEach((each, i) => {
      const body = given[i] as Fields;
      if (again(body)) left.push(each);
      else answers[each.index] = body;
    });
    open = left;
  }
  return answers;
}

/** A submit whose fate is not known may be repeated only under a request id. */
const mayRepeat = ({ outcome, reason }: Fields, { requestIdPrefix }: Options): boolean =>
  outcome === 'UNAVAILABLE' && (reason !== 'log_unavailable' || requestIdPrefix !== undefined);

class Tally {
  readonly #options: Options;
  readonly #io: Io;
  #line = 0;
  #created = 0;
  #before = 0;
  #first = '';
  #last = '';

  constructor(options: Options, io: Io) {
    this.#options = options;
    this.#io = io;
  }

  add(answers: readonly Fields[]): void {
    for (const body of answers) {
      this.#line += 1;
      const status = Number(body['http_status']);
      if (status >= 300) this.#refused({ status, text: JSON.stringify(body), body });
      if (body['deduplicated'] === true) this.#before += 1;
      else this.#created += 1;
      this.#last = String(body['task_id']);
      if (this.#first === '') this.#first = this.#last;
    }
    if (this.#options.json !== true) return;
    say(this.#io.stdout, answers.map((body) => JSON.stringify(body)).join('\n'));
  }

  tell(): void {
    if (this.#options.json === true) return;
    const range = this.#line === 0 ? '' : `: ${this.#first} to ${this.#last}`;
    const before = this.#before === 0 ? '' : `, ${this.#before} submitted before`;
    say(this.#io.stdout, `${this.#created} tasks submitted${before}${range}`);
  }

  #refused(answer: Answer): never {
    const text = this.#options.json === true ? answer.text : refusalText(answer);
    throw new CliError(EXIT.failed, `line ${this.#line}: ${text}`);
  }
}
