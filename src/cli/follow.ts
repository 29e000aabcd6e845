// Owns following the log: every record in order, each once, over restarts of the server and cut
// connections. Following ends when the user ends it, or when the server is gone for too long.

import { LeaseholdError, RefusedError } from '../client/errors.ts';
import { monotonicMs, pause } from '../client/local-clock.ts';
import { TransportFailure } from '../client/transport.ts';
import { CliError, EXIT } from './command.ts';
import { successOf } from './refusals.ts';
import { type Server } from './server.ts';
import { type ServerOptions } from './server-options.ts';

type Fields = Readonly<Record<string, unknown>>;

/** @throws CliError naming the record from which to go on, or the refusal. */
export async function follow(
  server: Server,
  asked: Fields,
  options: ServerOptions,
  show: (record: Fields) => void,
): Promise<never> {
  let from = Number(asked['from']);
  let lostAt: number | undefined;
  for (;;) {
    try {
      for await (const record of server.transport.follow({ ...asked, from })) {
        if (lostAt !== undefined) server.tellRecovery(`following again from record ${from}`);
        lostAt = undefined;
        show(record);
        from = Number(record['seq']) + 1;
      }
    } catch (error) {
      if (!isPassing(error)) throw wordsFor(error, options);
    }
    lostAt ??= monotonicMs();
    if (monotonicMs() - lostAt >= server.timeoutMs) {
      throw new CliError(EXIT.noServer, `the connection broke; go on with --from ${from}`);
    }
    server.tellTrouble(`the connection broke before record ${from}`);
    await pause(AGAIN_MS);
  }
}

const AGAIN_MS = 200;

const isPassing = (error: unknown): boolean =>
  error instanceof TransportFailure ||
  (error instanceof RefusedError && error.refusal.outcome === 'UNAVAILABLE');

function wordsFor(error: unknown, options: ServerOptions): unknown {
  if (error instanceof RefusedError) {
    try {
      return successOf({ body: { ...error.refusal } }, options);
    } catch (refused) {
      return refused;
    }
  }
  return error instanceof LeaseholdError ? new CliError(EXIT.failed, error.message) : error;
}
