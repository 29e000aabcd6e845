// Owns how commands talk to a server: plain HTTP, one request at a time, the answer as it came. It
// retries nothing and knows no route.

import { readFileSync } from 'node:fs';
import http, { type IncomingMessage } from 'node:http';
import type { Command } from 'commander';
import { CliError, EXIT, type Io, usage } from './command.ts';

export interface ServerOptions {
  readonly url?: string;
  readonly tokenFile?: string;
  readonly json?: boolean;
}

/** The options of every command that asks a server. */
export const withServer = (command: Command): Command =>
  command
    .option('--url <url>', 'the server (default LEASEHOLD_URL, else http://127.0.0.1:5327)')
    .option('--token-file <file>', 'file with the token (default LEASEHOLD_TOKEN)')
    .option('--json', "print the server's answer as it is");

export interface Answer {
  readonly status: number;
  /** Without the line feed at its end: what prints it adds one. */
  readonly text: string;
  /** The parsed text; undefined when it is no JSON object. */
  readonly body: Readonly<Record<string, unknown>> | undefined;
}

const DEFAULT_URL = 'http://127.0.0.1:5327';

export class Server {
  readonly url: URL;
  readonly #headers: Record<string, string> = {};
  readonly #agent = new http.Agent({ keepAlive: true, maxSockets: 1 });

  constructor(options: ServerOptions, { env }: Io) {
    const given = options.url ?? env['LEASEHOLD_URL'] ?? DEFAULT_URL;
    this.url = urlOf(given);
    const token = options.tokenFile === undefined ? env['LEASEHOLD_TOKEN'] : tokenOf(options);
    if (token !== undefined) this.#headers['authorization'] = `Bearer ${token}`;
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.#whole('GET', path, undefined, headers);
  }

  post(path: string, body: unknown): Promise<Answer> {
    return this.#whole('POST', path, JSON.stringify(body), { 'content-type': 'application/json' });
  }

  /** @returns an answer whose body is still coming: a follower. */
  async stream(path: string): Promise<IncomingMessage> {
    const response = await this.#send('GET', path, undefined, {});
    if (response.statusCode === 200) return response;
    throw new CliError(EXIT.failed, refusalText(await wholeAnswer(response)));
  }

  close(): void {
    this.#agent.destroy();
  }

  async #whole(
    method: string,
    path: string,
    body: string | undefined,
    headers: Readonly<Record<string, string>>,
  ): Promise<Answer> {
    return wholeAnswer(await this.#send(method, path, body, headers));
  }

  #send(
    method: string,
    path: string,
    body: string | undefined,
    headers: Readonly<Record<string, string>>,
  ): Promise<IncomingMessage> {
    const { hostname, port, host } = this.url;
    return new Promise((resolve, reject) => {
      const request = http.request(
        {
          // A literal IPv6 address stands in brackets in a URL and without them here.
          host: hostname.replace(/^\[(.*)\]$/, '$1'),
          port: port === '' ? 80 : Number(port),
          method,
          path: this.url.pathname.replace(/\/$/, '') + path,
          agent: this.#agent,
          headers: { ...this.#headers, ...headers, ...(body === undefined ? {} : lengthOf(body)) },
        },
        resolve,
      );
      request.on('error', (error: NodeJS.ErrnoException) => {
        const why = error.code ?? error.message;
        reject(new CliError(EXIT.noServer, `no answer from http://${host}: ${why}`));
      });
      request.end(body);
    });
  }
}

function urlOf(given: string): URL {
  if (URL.canParse(given)) {
    const url = new URL(given);
    if (url.protocol === 'http:') return url;
  }
  throw usage(`--url: ${JSON.stringify(given)} is no address like ${DEFAULT_URL}`);
}

const lengthOf = (body: string): Record<string, string> => ({
  'content-length': String(Buffer.byteLength(body)),
});

function tokenOf({ tokenFile }: ServerOptions): string {
  try {
    return readFileSync(String(tokenFile), 'utf8').trim();
  } catch (error) {
    throw usage(`--token-file: ${(error as Error).message}`);
  }
}

async function wholeAnswer(response: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of response) chunks.push(chunk as Buffer);
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code ?? (error as Error).message;
    throw new CliError(EXIT.noServer, `the connection broke before the answer was whole: ${why}`);
  }
  const text = Buffer.concat(chunks).toString('utf8').replace(/\n$/, '');
  return { status: response.statusCode ?? 0, text, body: objectOf(text) };
}

function objectOf(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** A refusal for people: outcome, reason, the sentence, and what a program would decide by. */
export function refusalText({ status, text, body }: Answer): string {
  if (body?.['outcome'] === undefined) return `the server answered ${status}: ${text.trim()}`;
  const { outcome, reason, detail, first_outcome, first_report, first_record, record } = body;
  const first =
    first_outcome === undefined
      ? ''
      : ` First: ${first_report} was ${first_outcome}, record ${first_record}.`;
  const caused = typeof record === 'number' ? ` Record ${record}.` : '';
  const sentence = String(detail).replace(/\.?$/, '.');
  return `${outcome} ${reason}: ${sentence}${first}${caused}`;
}

/** @returns the body of a success. @throws CliError with the status that belongs to the refusal */
export function successOf(
  answer: Answer,
  { json }: ServerOptions,
): Readonly<Record<string, unknown>> {
  if (answer.status < 300 && answer.body !== undefined) return answer.body;
  const status = answer.body?.['outcome'] === 'CANCELLED' ? EXIT.cancelled : EXIT.failed;
  throw new CliError(status, json === true ? answer.text.trim() : refusalText(answer));
}
