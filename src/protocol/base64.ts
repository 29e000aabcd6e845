// Owns the strict reading of base64: the standard alphabet, padded, no white space, no stray bits.
// Node's own decoder skips what it does not know, which would store other bytes than were meant.

/** @returns the bytes, or undefined when the text is not the one base64 form of any bytes. */
export function decodeBase64(text: string): Buffer | undefined {
  if (text.length % 4 !== 0) return undefined;
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : undefined;
}
