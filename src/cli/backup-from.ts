// Owns the way of a whole copy of the log from a running server to this machine: the request, and
// the words for what may go wrong with it.

import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import path from 'node:path';
import type { Copied } from '../log/copy-log.ts';
import { type ReceiveOptions, receiveLog } from '../log/copy-received.ts';
import type { Leftover } from '../log/growing-copy.ts';
import { LogCorrupt, LogError } from '../log/log.ts';
import { errnoText } from '../model/errno-text.ts';
import { CliError, EXIT, type Io, say, usage } from './command.ts';
import { operatingError } from './offline.ts';
import { tokenOf } from './server-options.ts';

const ROUTE = '/v1/segments';

/** A server that dies without a word, or a network that is cut, is not waited for longer. */
const SILENT_MS = 120_000;
/** As shells have it: 128 and the number of the signal. */
const STATUS = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;
type Signal = keyof typeof STATUS;

/**
 * @param from the URL of the server
 * @param target new or empty; whatever goes wrong, it is as it was
 * @throws CliError
 */
export async function backupFrom(
  from: string,
  target: string,
  tokenFile: string | undefined,
  options: ReceiveOptions,
  io: Io,
): Promise<Copied> {
  const url = urlOf(from);
  assertEmpty(target);
  const token = tokenOf(tokenFile === undefined ? {} : { tokenFile }, io);
  const headers: Record<string, string> =
    token === undefined ? {} : { authorization: `Bearer ${token}` };
  const answer = await answerTo(url + ROUTE, headers).catch((error: unknown) => {
    throw new CliError(EXIT.noServer, `leasehold: ${from}: ${errnoText(error)}`);
  });
  if (answer.statusCode !== 200) throw await refused(from, answer);
  let interrupted: Signal | undefined;
  const stop = (signal: NodeJS.Signals): void => {
    interrupted = signal as Signal;
    answer.destroy();
  };
  const signals = Object.keys(STATUS) as Signal[];
  for (const signal of signals) process.once(signal, stop);
  const onLeftover = (leftover: Leftover): void => say(io.stderr, leftoverText(leftover));
  const assertWanted = (): void => {
    if (interrupted !== undefined) throw new BrokenOff('interrupted');
  };
  try {
    const more = { onLeftover, assertWanted };
    return await receiveLog(chunksOf(answer), target, { ...options, ...more });
  } catch (error) {
    if (interrupted === undefined) throw wordsFor(error, from, target);
    const text = `leasehold: interrupted; nothing was left in ${path.resolve(target)}`;
    throw new CliError(STATUS[interrupted], text);
  } finally {
    // Nobody reads the rest of an answer that was not what it should be.
    answer.destroy();
    for (const signal of signals) process.off(signal, stop);
  }
}

const leftoverText = ({ path: directory, isRemoved }: Leftover): string =>
  isRemoved
    ? `leasehold: removed ${directory}, the rest of a copy that was broken off`
    : `leasehold: ${directory} is the rest of a copy, or another machine is making it; remove it ` +
      'if none is';

function urlOf(from: string): string {
  const { protocol = '', origin = '' } = URL.canParse(from) ? new URL(from) : {};
  if (/^https?:$/.test(protocol)) return origin;
  throw usage(`leasehold: --from: ${JSON.stringify(from)} is not http://host:port or https://…`);
}

function assertEmpty(target: string): void {
  if (!existsSync(target)) return;
  let names: readonly string[] | undefined;
  try {
    names = readdirSync(target);
  } catch {
    // Told below.
  }
  if (names?.length === 0) return;
  const why = names === undefined ? 'is no directory that can be read' : 'is not empty';
  throw new CliError(
    EXIT.failed,
    `leasehold: LOG_DIRECTORY: ${target} ${why}; choose a new directory`,
  );
}

class BrokenOff extends Error {}

async function answerTo(
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<http.IncomingMessage> {
  const { get } = url.startsWith('https:') ? https : http;
  const asked = get(url, { headers, agent: false });
  asked.setTimeout(SILENT_MS, () => {
    asked.destroy(new Error(`no byte came for ${SILENT_MS / 1_000} s`));
  });
  const [answer] = (await once(asked, 'response')) as [http.IncomingMessage];
  // Nobody else hears what comes after the answer has begun.
  asked.on('error', () => {});
  return answer;
}

async function* chunksOf(answer: http.IncomingMessage): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of answer) yield chunk as Buffer;
  } catch (error) {
    throw new BrokenOff(errnoText(error));
  }
}

async function refused(from: string, answer: http.IncomingMessage): Promise<CliError> {
  let said = '';
  for await (const chunk of chunksOf(answer)) said += Buffer.from(chunk).toString('utf8');
  const status = `answers ${answer.statusCode}`;
  if (answer.statusCode === 404) {
    return new CliError(EXIT.failed, `leasehold: ${from} ${status}: it has no ${ROUTE}`);
  }
  return new CliError(EXIT.failed, `leasehold: ${from} ${status}: ${detailIn(said)}`);
}

function detailIn(text: string): string {
  try {
    return String((JSON.parse(text) as { readonly detail?: unknown }).detail);
  } catch {
    return 'it is no leasehold server';
  }
}

function wordsFor(error: unknown, from: string, target: string): unknown {
  const rest = `nothing was left in ${path.resolve(target)}; repeat it`;
  const failed = (why: string) => new CliError(EXIT.failed, `leasehold: ${from}: ${why}; ${rest}`);
  if (error instanceof BrokenOff) return failed(`the connection broke off (${error.message})`);
  if (error instanceof LogCorrupt) return failed(`the log came damaged: ${error.message}`);
  if (error instanceof LogError && error.code === 'LOG_IO') return failed(error.message);
  const told = operatingError(error);
  return told === undefined ? error : new CliError(EXIT.failed, `leasehold: ${told}`);
}
