// Owns where the image of `explain --svg` goes: a file, or the standard output for `-`.

import { writeFileSync } from 'node:fs';
import { errnoText } from '../model/errno-text.ts';
import { CliError, EXIT, type Io, say } from './command.ts';

/** @throws CliError when the file cannot be written. */
export function writeSvg(file: string, svg: string, { stdout }: Io): void {
  const text = svg.replace(/\n$/, '');
  if (file === '-') return say(stdout, text);
  try {
    writeFileSync(file, `${text}\n`);
  } catch (error) {
    throw new CliError(EXIT.failed, `--svg ${file}: ${errnoText(error)}`);
  }
}
