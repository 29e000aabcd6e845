// Owns the files that `rehearse` is given: the payloads that are read, and the JUnit file that is
// written at the end. A file that cannot be used is refused before anything is played.

import { isUtf8 } from 'node:buffer';
import { accessSync, constants, existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { errnoText } from '../model/errno-text.ts';
import { usage } from './command.ts';

/** @returns one payload a line; any text is one. @throws CliError with the usage status */
export function payloadsOf(file: string | undefined): readonly string[] {
  if (file === undefined) throw usage('--payloads FILE: one payload a line');
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    throw usage(`--payloads ${file}: ${errnoText(error)}`);
  }
  if (!isUtf8(bytes)) throw usage(`--payloads ${file}: it is no text in UTF-8`);
  const lines = bytes.toString('utf8').split(/\r?\n/);
  const payloads = lines.filter((line) => line !== '');
  if (payloads.length === 0) throw usage(`--payloads ${file}: no line of it holds a payload`);
  return payloads;
}

/** @throws CliError with the usage status when no file can be written there */
export function checkWritable(flag: string, file: string): void {
  try {
    const isThere = statSync(file, { throwIfNoEntry: false });
    if (isThere?.isDirectory() === true) throw new Error('it is a directory');
    const folder = path.dirname(path.resolve(file));
    if (!existsSync(folder)) throw new Error(`there is no folder ${folder}`);
    accessSync(isThere === undefined ? folder : file, constants.W_OK);
  } catch (error) {
    throw usage(`${flag} ${file}: ${errnoText(error)}`);
  }
}
