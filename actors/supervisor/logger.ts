// Owns how an actor logs: lines of JSON on a pipe, readable ones on a terminal, each naming its
// actor. It never writes a token, and it is for operators only: the log that decides is not this.

import { createRequire } from 'node:module';
import { isatty } from 'node:tty';
import { type Logger, pino } from 'pino';
import type { build } from 'pino-pretty';

export type { Logger } from 'pino';

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Decided once, in the main thread, and handed to the others as data. */
export interface LogSettings {
  readonly level: LogLevel;
  readonly readable: boolean;
  readonly color: boolean;
}

const SECRETS = ['token', 'authorization', 'headers.authorization', 'req.headers.authorization'];

/** What the first line about the log begins with. */
export function openedText({ created, records }: { created: boolean; records: number }): string {
  if (created) return 'created new log';
  return `opened log, ${records} ${records === 1 ? 'record' : 'records'}`;
}

/** For the main thread: readable on a terminal, coloured unless NO_COLOR is set (no-color.org). */
export function logSettings(level: LogLevel): LogSettings {
  const readable = isatty(process.stdout.fd);
  return { level, readable, color: readable && !process.env['NO_COLOR'] };
}

/**
 * A logger for one actor, in any thread.
 *
 * It writes to process.stdout and not to the file descriptor: a worker's stdout goes through the
 * main thread, which writes whole lines. Several threads on one descriptor tear each other's lines
 * above the size that a pipe takes at once.
 */
export function createLogger(actor: string, settings: LogSettings): Logger {
  const options = {
    level: settings.level,
    base: { actor },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: SECRETS, censor: 'set' },
  };
  return pino(options, settings.readable ? readable(settings.color) : process.stdout);
}

/** Loaded on a terminal only: a server on a pipe starts without it. */
const readable = (colorize: boolean) => {
  const pretty = createRequire(import.meta.url)('pino-pretty') as typeof build;
  return pretty({
    colorize,
    destination: process.stdout,
    translateTime: 'SYS:HH:MM:ss.l',
    ignore: 'actor',
    messageFormat: '[{actor}] {msg}',
  });
};
