// Owns how text is broken into lines of a certain width. A word is never cut: a word that is
// longer than a line has a line of its own.

/** A place at which a line must not be broken; shown as a space. */
export const UNBROKEN = '\u00a0';

/**
 * Breaks a text at its spaces. The first line begins after `first` columns, and every other line
 * after `hanging` columns.
 */
export function wrap(text: string, columns: number, hanging: number, first = 0): string[] {
  const lines: string[] = [];
  let line = ' '.repeat(first);
  let empty = true;
  for (const word of text.split(' ')) {
    if (!empty && lengthOf(line) + 1 + lengthOf(word) > columns) {
      lines.push(line);
      line = ' '.repeat(hanging);
      empty = true;
    }
    line += empty ? word : ` ${word}`;
    empty = false;
  }
  return [...lines, line].map((one) => one.replaceAll(UNBROKEN, ' '));
}

/** In characters, as a terminal counts them, not in the units of a string. */
export const lengthOf = (text: string): number => [...text].length;
