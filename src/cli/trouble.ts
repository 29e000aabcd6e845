// Owns what may be wrong with a request that got no answer of use: whether it may be tried again,
// and the words for people.

import { LeaseholdError } from '../client/errors.ts';
import type { Trouble } from '../client/resend.ts';
import { type Answer, TransportFailure, type Wire } from '../client/transport.ts';
import { errnoText } from '../model/errno-text.ts';
import { OPERATION_NAMES, type OperationName, operationOf } from '../model/operations.ts';
import { CliError, EXIT } from './command.ts';
import { refusalText } from './refusals.ts';

/** @throws CliError unless it is a failure of the way, which may be tried again. */
export function failureOf(error: unknown, url: string): TransportFailure {
  if (error instanceof TransportFailure) return error;
  if (!(error instanceof LeaseholdError)) throw error;
  if (error.code === 'UNAUTHORIZED') {
    const how = 'the token is missing or wrong (--token-file, or LEASEHOLD_TOKEN)';
    throw new CliError(EXIT.failed, `REJECTED unauthorized: ${how}.`);
  }
  throw new CliError(EXIT.failed, `${url}: ${error.message}`);
}

/** @returns whether a request changes nothing, so that what became of it does not matter. */
export const isRead = (op: string): boolean =>
  OPERATION_NAMES.includes(op as OperationName) &&
  operationOf(op as OperationName).http?.method === 'GET';

export const notLeaderIn = (answers: readonly Answer[]): Wire | undefined =>
  answers.find(({ body }) => body['reason'] === 'not_leader')?.body;

export function troubleOf(result: Answer[] | TransportFailure): Trouble | undefined {
  if (!Array.isArray(result)) return { kind: 'unanswered', written: result.written };
  if (result.length === 0 || !result.every(({ body }) => body.outcome === 'UNAVAILABLE')) {
    return undefined;
  }
  const reasons = result.map(({ body }) => String(body.reason));
  const reason = reasons.find((one) => one === 'log_unavailable') ?? (reasons[0] as string);
  return { kind: 'unavailable', reason, retryAfterMs: result[0]?.retryAfterMs };
}

/** @returns a sentence for people. */
export function troubleText(result: Answer[] | TransportFailure): string {
  if (Array.isArray(result)) return refusalText(result[0]?.body ?? {});
  const { cause, message } = result;
  const { code } = (cause ?? {}) as { code?: unknown };
  return typeof code === 'string' ? errnoText(cause) : message;
}
