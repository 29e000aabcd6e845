// Owns the comparison of an expected value with an actual one: fields that are undefined count as
// absent, bytes by content, and sentences for people not at all.

const SENTENCES = new Set(['detail', 'field', 'retryAfterMs']);

/** @returns the path of the first difference, or undefined: they are the same. */
export function difference(expected: unknown, actual: unknown): string | undefined {
  if (expected === actual) return undefined;
  if (expected instanceof Uint8Array && actual instanceof Uint8Array) {
    return Buffer.compare(expected, actual) === 0 ? undefined : 'other bytes';
  }
  if (
    typeof expected !== 'object' ||
    typeof actual !== 'object' ||
    expected === null ||
    actual === null
  ) {
    return `expected ${text(expected)}, got ${text(actual)}`;
  }
  for (const key in expected) {
    const a = (expected as Record<string, unknown>)[key];
    const b = (actual as Record<string, unknown>)[key];
    if (a === b || SENTENCES.has(key)) continue;
    const different = difference(a, b);
    if (different !== undefined) return `${key}: ${different}`;
  }
  for (const key in actual) {
    const b = (actual as Record<string, unknown>)[key];
    // What is expected under the key was compared above.
    if (b === undefined || (expected as Record<string, unknown>)[key] !== undefined) continue;
    if (!SENTENCES.has(key)) return `${key}: expected nothing, got ${text(b)}`;
  }
  return undefined;
}

export const text = (value: unknown): string =>
  JSON.stringify(value, (_, field) =>
    field instanceof Uint8Array ? `<${Buffer.from(field).toString('base64')}>` : field,
  ) ?? 'nothing';
