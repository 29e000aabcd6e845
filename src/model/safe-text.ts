// Owns how a text that somebody else chose is shown on a terminal: it must not steer the terminal,
// nor look like the line after it.

/** But tab and line feed: control characters, separators of lines, and what turns the direction. */
const CONTROL = /(?![\t\n])\p{Cc}|[\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** The text with a dot for each character that is not printable; it may have several lines. */
export const safeText = (value: unknown): string => String(value).replace(CONTROL, '\u00b7');

/** The same on one line. */
export const lineText = (value: unknown): string => safeText(value).replace(/[\t\n]/g, '\u00b7');
