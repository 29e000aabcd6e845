// Owns the options that say where the server is and how it is asked, which all commands share.

import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { readToken, TOKEN_VARIABLE, TokenError } from '../settings/token.ts';
import { type Io, usage } from './command.ts';

export const DEFAULT_URL = 'http://127.0.0.1:5327';

export interface ServerOptions {
  readonly url?: string;
  readonly tokenFile?: string;
  readonly timeout?: string;
  readonly json?: boolean;
}

/** The options of every command that asks a server. */
export const withServer = (command: Command): Command =>
  command
    .option(
      '--url <url>',
      `the server, as http:, https:, tcp: or unix: (default LEASEHOLD_URL, else ${DEFAULT_URL})`,
    )
    .option('--token-file <file>', `file with the token (default ${TOKEN_VARIABLE})`)
    .option(
      '--timeout <time>',
      'how long to keep trying when the server does not answer (default 30s)',
    )
    .option('--json', "print the server's answer unchanged, as JSON");

/** @throws CliError with the usage status. */
export function tokenOf({ tokenFile }: ServerOptions, { env }: Io): string | undefined {
  // An empty variable is how a shell takes a value back for one command.
  const variable = env[TOKEN_VARIABLE]?.trim() === '' ? undefined : env[TOKEN_VARIABLE];
  try {
    return readToken({ file: tokenFile, variable, readFile: (path) => readFileSync(path, 'utf8') });
  } catch (error) {
    throw error instanceof TokenError ? usage(error.message) : error;
  }
}
