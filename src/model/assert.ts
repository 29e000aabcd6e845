// Owns the check of an invariant. A refusal is a value and an operating error is an Error with a
// code. A broken invariant is a bug: whoever catches it must stop, because the state can no longer
// be trusted.

export class InvariantBroken extends Error {
  override readonly name = 'InvariantBroken';
}

/**
 * Throws InvariantBroken unless the condition holds. Stays on in production.
 * @param words what is wrong. They are joined only then: a text that is made of a record's numbers
 *   would be made, and thrown away, for each record of which nothing is wrong
 */
export function invariant(
  condition: boolean,
  ...words: readonly (string | number | undefined)[]
): asserts condition {
  if (!condition) throw new InvariantBroken(words.join(' '));
}

/** Ends a switch: adding a record or a request then fails to compile in each place to change. */
export function assertNever(value: never): never {
  throw new InvariantBroken(`unexpected value ${JSON.stringify(value)}`);
}
