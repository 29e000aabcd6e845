// Owns how commands show a refusal: its sentence for people, and the exit status.

import type { Wire } from '../client/transport.ts';
import { CliError, EXIT } from './command.ts';
import type { ServerOptions } from './server-options.ts';

const REFUSALS = new Set(['REJECTED', 'CANCELLED', 'UNAVAILABLE']);
export const isRefusal = (body: Wire): boolean => REFUSALS.has(String(body['outcome']));

/** What the server calls `queues.0` was written behind a flag. */
export const flagWords = (sentence: string): string =>
  sentence.replace(/\bqueues\.\d+ must/, '--queue must');

/** A refusal for people: outcome, reason, the sentence, and what a program would decide by. */
export function refusalText(body: Wire): string {
  const { outcome, reason, detail, first_outcome, first_report, first_record, record, leader } =
    body;
  const first =
    first_outcome === undefined
      ? ''
      : ` First: ${first_report} was ${first_outcome}, record ${first_record}.`;
  const caused = typeof record === 'number' ? ` Record ${record}.` : '';
  const sentence = flagWords(String(detail ?? reason)).replace(/[^.?]$/, '$&.');
  const leads = typeof leader === 'string' ? ` leader: ${leader}` : '';
  return `${outcome} ${reason}: ${sentence}${first}${caused}${leads}`;
}

/** What the server finds malformed was written wrongly here: that is what usage means. */
export function statusOfRefusal({ outcome, reason }: Wire): number {
  if (outcome === 'CANCELLED') return EXIT.cancelled;
  return outcome === 'REJECTED' && reason === 'malformed' ? EXIT.usage : EXIT.failed;
}

/** @returns the body of a success. @throws CliError with the status that belongs to the refusal */
export function successOf({ body }: { readonly body: Wire }, { json }: ServerOptions): Wire {
  if (!isRefusal(body)) return body;
  const text = json === true ? JSON.stringify(body) : refusalText(body);
  throw new CliError(statusOfRefusal(body), text);
}
