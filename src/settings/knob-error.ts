// Owns the refusal of a knob: the message names the knob and what may be given.

/** A knob that cannot be: the start is refused. */
export class KnobError extends Error {
  override readonly name = 'KnobError';
  readonly code = 'KNOB';
}
