// Owns who may ask over HTTP, decided from the head of a request before its body is read. With a
// token, the token decides. Without one, the port is open to this machine. But a browser on this
// machine runs web pages that can reach loopback too: their requests are recognised by their
// headers and refused.

import type { IncomingHttpHeaders } from 'node:http';
import { type Rejected, rejected } from '../../src/model/refusal.ts';
import { tokenMatcher } from '../ingress/token-match.ts';

/** @returns undefined: go on. */
export type Guard = (headers: IncomingHttpHeaders) => Rejected | undefined;

/** @param host the configured address, which a client may name besides the loopback names. */
export function guardOf(token: string | undefined, host: string): Guard {
  if (token !== undefined) return tokenGuard(token);
  return (headers) => refuseWebPages(headers, host.toLowerCase());
}

function tokenGuard(token: string): Guard {
  const matches = tokenMatcher(token);
  const refusal = rejected('unauthorized', 'Give the token: Authorization: Bearer TOKEN.');
  return ({ authorization }) => {
    const given = /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
    return given !== undefined && matches(given) ? undefined : refusal;
  };
}

function refuseWebPages(headers: IncomingHttpHeaders, host: string): Rejected | undefined {
  if (headers.origin !== undefined) {
    return rejected('forbidden', 'A request with Origin comes from a web page: set a token.');
  }
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'none' && site !== 'same-origin') {
    return rejected('forbidden', 'A request of another site comes from a web page: set a token.');
  }
  // A name that an attacker's DNS points to this machine still stands in Host.
  if (headers.host === undefined || isOurs(nameIn(headers.host), host)) return undefined;
  return rejected('forbidden', 'Host names neither this machine nor the configured address.');
}

/** `example.org:80` and `[::1]:80` without port and brackets. */
function nameIn(host: string): string {
  const name = host.toLowerCase();
  if (name.startsWith('[')) return name.slice(1, name.indexOf(']'));
  const colon = name.lastIndexOf(':');
  return colon < 0 ? name : name.slice(0, colon);
}

function isOurs(name: string, host: string): boolean {
  if (name === host || name === 'localhost' || name.endsWith('.localhost')) return true;
  return name === '::1' || /^127(\.\d{1,3}){3}$/.test(name);
}
