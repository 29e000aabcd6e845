// Owns the parts that all commands share: the shape of a command file, the exit statuses, and how
// a refusal or a failure is printed. This file knows no single command.

import { type Command, Option } from 'commander';
import { DURATION_EXAMPLES, readDuration } from '../model/read-duration.ts';

/** What a command file exports: it adds its arguments, options and action to `command`. */
export type Define = (command: Command, io: Io) => void;

/** A command as it is listed: its file is loaded only when the command runs. */
export interface Entry {
  readonly summary: string;
  load(): Promise<{ readonly define: Define }>;
}

/** All commands by name, in the order of the help. */
export type Commands = Readonly<Record<string, Entry>>;

/** Where a command reads and writes; tests and the demo hand in their own. */
export interface Io {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly env: NodeJS.ProcessEnv;
}

/** What the end of a command says. What `serve` ends with is decided by the supervisor. */
export const EXIT = { done: 0, failed: 1, usage: 2, noServer: 3, cancelled: 4, empty: 5 } as const;

/** Ends the command: `message` goes to stderr, `status` is the exit status. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export const usage = (message: string): CliError => new CliError(EXIT.usage, message);

/** Writes one line. */
export const say = (to: NodeJS.WritableStream, line: string): void => void to.write(`${line}\n`);

/** @returns milliseconds, from `30s` or a bare number. @throws CliError with the usage status */
export function durationMs(flag: string, given: string, min: number, max: number): number {
  const value = readDuration(given) ?? Number.NaN;
  if (value >= min && value <= max) return value;
  const range = `a duration from ${min} to ${max} ms (${DURATION_EXAMPLES})`;
  throw usage(`${flag}: ${JSON.stringify(given)} is not ${range}`);
}

/**
 * A time that a person waits: of a bare number below 100, which would be milliseconds, seconds are
 * meant more often than not.
 * @returns milliseconds. @throws CliError with the usage status
 */
export function patienceMs(flag: string, given: string, min: number, max: number): number {
  if (/^[1-9]\d?$/.test(given)) {
    throw usage(
      `${flag}: ${JSON.stringify(given)} would be ${given} ms; write ${given}s, or ${given}ms`,
    );
  }
  return durationMs(flag, given, min, max);
}

/** @returns a whole number from min to max. @throws CliError with the usage status */
export function wholeNumber(flag: string, given: string, min: number, max: number): number {
  const value = /^\d+$/.test(given) ? Number(given) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw usage(`${flag}: ${JSON.stringify(given)} is not a whole number from ${min} to ${max}`);
}

/** An option for one of these words, which people may write in lower case, too. */
export function upperOption(flags: string, help: string, words: readonly string[]): Option {
  const option = new Option(flags, help).choices([...words]);
  const parse = option.parseArg;
  // Commander checks a choice where it reads the value.
  return option.argParser((value: string) => parse?.(value.toUpperCase(), undefined));
}

/** For options that may be given several times. */
export const collect = (value: string, before: string[] | undefined): string[] => [
  ...(before ?? []),
  value,
];
