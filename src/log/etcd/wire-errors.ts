// Owns what etcd's errors mean. A status of gRPC and etcd's words become one of the few codes that
// the rest of the program knows.

import { EtcdError, type EtcdErrorCode } from './etcd.ts';

/** Statuses of gRPC, as its specification numbers them. */
const CANCELLED = 1;
const UNKNOWN = 2;
const DEADLINE_EXCEEDED = 4;
const PERMISSION_DENIED = 7;
const ABORTED = 10;
const INTERNAL = 13;
const UNAVAILABLE = 14;
const UNAUTHENTICATED = 16;

/** The request, its answer, or the member is lost; nothing was said about the request itself. */
const LOST = new Set([CANCELLED, UNKNOWN, DEADLINE_EXCEEDED, ABORTED, INTERNAL, UNAVAILABLE]);

export interface WireError extends Error {
  readonly code: number;
  readonly details: string;
}

const wireError = (code: number, details: string): WireError =>
  Object.assign(new Error(details), { code, details });

export const late = (): WireError => wireError(DEADLINE_EXCEEDED, 'it does not answer in time');
export const closed = (): WireError => wireError(CANCELLED, 'the connection was closed');

const WORDS: readonly (readonly [RegExp, EtcdErrorCode])[] = [
  [/database space exceeded/, 'no_space'],
  [/has been compacted/, 'compacted'],
  [/authentication failed|user name is empty|authentication is not enabled/, 'denied'],
  [/too many requests/, 'no_answer'],
  [/invalid auth token|revision of auth store is old/, 'no_answer'],
];
const CERTIFICATE = /certificate|\bSSL\b|\bTLS\b|altname/i;

/** @param member the URL of the member that was asked */
export function etcdError({ code, details }: WireError, member: string): EtcdError {
  return new EtcdError(meaningOf(code, details), `${member}: ${details}`);
}

function meaningOf(code: number, details: string): EtcdErrorCode {
  for (const [words, meaning] of WORDS) if (words.test(details)) return meaning;
  if (code === PERMISSION_DENIED || code === UNAUTHENTICATED) return 'denied';
  if (code === UNAVAILABLE && CERTIFICATE.test(details)) return 'denied';
  return LOST.has(code) ? 'no_answer' : 'refused';
}

/** The token ran out, or etcd's users changed: etcd did not look at the request. */
export const isTokenOld = ({ code, details }: WireError): boolean =>
  code === UNAUTHENTICATED || /invalid auth token|revision of auth store is old/.test(details);
