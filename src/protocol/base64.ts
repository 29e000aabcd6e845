// Owns the strict reading of base64: the standard alphabet, padded, without white space or stray
// bits. Node's own decoder skips characters that it does not know, so the stored bytes could be
// others than the client meant.

/** @returns the bytes, or undefined when the text is not the one base64 form of any bytes. */
export function decodeBase64(text: string): Buffer | undefined {
  if (text.length % 4 !== 0) return undefined;
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : undefined;
}
