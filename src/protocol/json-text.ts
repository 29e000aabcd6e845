// Owns what must be read off a JSON text itself, because parsing loses it: where a string ends, and
// which key is given twice.

const BACKSLASH = 0x5c;

interface Level {
  /** Keys seen so far; undefined inside an array. */
  readonly keys: Set<string> | undefined;
  /** The key or index whose value is being read. */
  at: string;
  index: number;
}

/**
 * Runs only when json.ts has counted that there is one, so it may be slow; the text is well-formed
 * and not nested deep.
 * @returns the path of the first key that its object has already, the key last.
 */
export function duplicatePath(text: string): string[] {
  const levels: Level[] = [];
  for (let i = 0; i < text.length; i += 1) {
    const char = text[i];
    const top = levels.at(-1);
    if (char === '{') levels.push({ keys: new Set(), at: '', index: 0 });
    else if (char === '[') levels.push({ keys: undefined, at: '0', index: 0 });
    else if (char === '}' || char === ']') levels.pop();
    else if (char === ',' && top !== undefined && top.keys === undefined) {
      top.index += 1;
      top.at = String(top.index);
    } else if (char === '"') {
      const end = closingQuote(text, i);
      if (top?.keys !== undefined && isKey(text, end)) {
        top.at = JSON.parse(text.slice(i, end + 1)) as string;
        if (top.keys.has(top.at)) return levels.map((level) => level.at);
        top.keys.add(top.at);
      }
      i = end;
    }
  }
  return [];
}

function isKey(text: string, end: number): boolean {
  let at = end + 1;
  while (' \t\r\n'.includes(text[at] ?? '_')) at += 1;
  return text[at] === ':';
}

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
