// Owns the comparison of an expected value with an actual one: fields that are undefined count as
// absent, bytes by content, and sentences for people not at all.

const SENTENCES = new Set(['detail', 'field', 'retryAfterMs']);

/** @returns the path of the first difference, or undefined: they are the same. */
export function difference(expected: unknown, actual: unknown): string | undefined {
  if (expected === actual) return undefined;
  if (expected instanceof Uint8Array && actual instanceof Uint8Array) {
    return isSame(expected, actual) ? undefined : 'other bytes';
  }
  if (
    typeof expected !== 'object' ||
    typeof actual !== 'object' ||
    expected === null ||
    actual === null
  ) {
    return `expected ${text(expected)}, got ${text(actual)}`;
  }
  let common = 0;
  for (const key in expected) {
    const a = (expected as Record<string, unknown>)[key];
    const b = (actual as Record<string, unknown>)[key];
    if (a === b) {
      if (a !== undefined) common += 1;
      continue;
    }
    if (SENTENCES.has(key)) continue;
    const different = difference(a, b);
    if (different !== undefined) return `${key}: ${different}`;
    common += 1;
  }
  for (const key in actual) if ((actual as Record<string, unknown>)[key] !== undefined) common -= 1;
  return common === 0 ? undefined : unexpected(expected, actual);
}

/** Byte by byte: most have a few, and to ask the runtime costs more. */
function isSame(expected: Uint8Array, actual: Uint8Array): boolean {
  if (expected.length !== actual.length) return false;
  for (let n = 0; n < expected.length; n += 1) if (expected[n] !== actual[n]) return false;
  return true;
}

/** There are more fields, or sentences that do not count. */
function unexpected(expected: object, actual: object): string | undefined {
  for (const [key, b] of Object.entries(actual)) {
    if (b === undefined || SENTENCES.has(key)) continue;
    // What is expected under the key was compared before.
    if ((expected as Record<string, unknown>)[key] !== undefined) continue;
    return `${key}: expected nothing, got ${text(b)}`;
  }
  return undefined;
}

export const text = (value: unknown): string =>
  JSON.stringify(value, (_, field) =>
    field instanceof Uint8Array ? `<${Buffer.from(field).toString('base64')}>` : field,
  ) ?? 'nothing';
