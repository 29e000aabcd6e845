// Owns the comparison of a token that a client gives with the one that is set, for all ingresses.

import { createHash, timingSafeEqual } from 'node:crypto';

/** Compares in constant time, and tells nothing about the token's length either. */
export function tokenMatcher(token: string): (given: string) => boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  const wanted = digest(token);
  return (given) => timingSafeEqual(digest(given), wanted);
}
