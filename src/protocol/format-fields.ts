// Owns the JSON of optional members. Texts are joined by hand: one answer is made from a few
// pieces, and the object in between would cost more than the text.

/** @returns `,"name":value`, or nothing when there is no value: absent, never null. */
export const optionalMember = (name: string, value: unknown): string =>
  value === undefined ? '' : `,"${name}":${JSON.stringify(value)}`;
