// Owns finding the number of a JSON text that the engine reads as a whole number although a
// fraction is written: a fraction is refused where a whole number belongs, however small it is.

import { closingQuote } from './closing-quote.ts';

const NUMBER = /-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?/y;
const MARK = '\u0000rounded';

/** @param text one well-formed JSON value @returns the path of the first such number */
export function roundedPath(text: string): string[] | undefined {
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '"') {
      at = closingQuote(text, at);
      continue;
    }
    NUMBER.lastIndex = at;
    const found = NUMBER.exec(text);
    if (found === null) continue;
    const end = NUMBER.lastIndex;
    if (isRounded(found)) {
      const marked = text.slice(0, at) + JSON.stringify(MARK) + text.slice(end);
      return pathOf(JSON.parse(marked) as unknown);
    }
    at = end - 1;
  }
  return undefined;
}

function isRounded([token, whole = '', fraction = '', exponent = '0']: RegExpExecArray): boolean {
  if (!Number.isInteger(Number(token))) return false;
  const digits = whole + fraction;
  let significant = digits.length;
  while (significant > 0 && digits[significant - 1] === '0') significant -= 1;
  // With the exponent applied, all digits up to the last that is not 0 must stand before the point.
  return significant > 0 && whole.length + Number(exponent) < significant;
}

/** @returns where the mark stands. The depth of the value is bounded already. */
function pathOf(value: unknown): string[] | undefined {
  if (value === MARK) return [];
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    const path = pathOf(inner);
    if (path !== undefined) return [key, ...path];
  }
  return undefined;
}
