// Owns finding the end of a string in a JSON text.

const BACKSLASH = 0x5c;

/** @returns where the string ends that opens at `open`; past the end when it never does. */
export function closingQuote(text: string, open: number): number {
  let at = open;
  for (;;) {
    at = text.indexOf('"', at + 1);
    if (at < 0) return text.length;
    let before = at - 1;
    while (text.charCodeAt(before) === BACKSLASH) before -= 1;
    if (((at - before) & 1) === 1) return at;
  }
}
