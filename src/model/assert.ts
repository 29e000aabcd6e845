// Owns the third kind of "no": a broken invariant. A refusal is a value, an operating error is an
// Error with a code, and this is a bug: whoever catches it must stop, not carry on.

export class InvariantBroken extends Error {
  override readonly name = 'InvariantBroken';
}

/** Throws InvariantBroken unless the condition holds. Stays on in production. */
export function invariant(condition: boolean, message: string): asserts condition {
  if (!condition) throw new InvariantBroken(message);
}

/** Ends a switch: adding a record or a request then fails to compile in each place to change. */
export function assertNever(value: never): never {
  throw new InvariantBroken(`unexpected value ${JSON.stringify(value)}`);
}
