// Owns the reading of the bearer token, for servers and clients alike: from a file, or from
// LEASEHOLD_TOKEN. Spaces and line ends around the token are taken off, because editors and shells
// add them. Any other character that no header may carry is refused here, before the token is
// used.

import { errnoText } from '../model/errno-text.ts';

export const TOKEN_VARIABLE = 'LEASEHOLD_TOKEN';

const TOKEN = /^[\x21-\x7e]{1,4096}$/;

/** A token that cannot be read or used. The message names where it came from, never the token. */
export class TokenError extends Error {
  override readonly name = 'TokenError';
  readonly code = 'TOKEN';
}

export interface TokenSources {
  /** The path of a file that holds the token; it counts before the variable. */
  readonly file: string | undefined;
  readonly variable: string | undefined;
  /** Throws as node:fs does. */
  readFile(path: string): string;
}

/** @returns undefined when neither is given. @throws TokenError */
export function readToken(from: TokenSources): string | undefined {
  const given = from.file === undefined ? from.variable : readTokenFile(from, from.file);
  if (given === undefined) return undefined;
  const token = given.trim();
  if (TOKEN.test(token)) return token;
  const where = from.file === undefined ? TOKEN_VARIABLE : `--token-file ${from.file}`;
  const rule = 'a token is 1 to 4096 visible ASCII characters, without spaces or line ends';
  throw new TokenError(`${where}: ${rule}`);
}

function readTokenFile({ readFile }: TokenSources, path: string): string {
  try {
    return readFile(path);
  } catch (error) {
    throw new TokenError(`--token-file ${path}: ${errnoText(error)}`);
  }
}
