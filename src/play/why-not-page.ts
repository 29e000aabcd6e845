// Owns how the played output gets into docs/WHY-NOT-KAFKA.md. The words of that page are written
// by hand. Each block of output stands below a mark that names the program which printed it.

const NAME = '[a-z0-9-]+';
/** A command may stand in backticks in it; three of them end the block. */
const TEXT = '(?:(?!```)[^])*';

/** A mark, and the block below it. */
const blockBelow = (side: string, name: string): RegExp =>
  new RegExp(`(<!-- ${side}: ${name} -->\n\`\`\`\n)(${TEXT})(\`\`\`\n)`, 'g');

/** @returns what stands in each of the blocks of a side, by the names of their marks. */
export function blocksOf(page: string, side: string): ReadonlyMap<string, string> {
  const found = page.matchAll(
    new RegExp(`<!-- ${side}: (${NAME}) -->\n\`\`\`\n(${TEXT})\`\`\``, 'g'),
  );
  return new Map(Array.from(found, ([, name = '', text = '']) => [name, text]));
}

/** @throws Error when the page has no such block, or two: then it would show something else. */
export function fillBlock(
  page: string,
  side: string,
  name: string,
  lines: readonly string[],
): string {
  const marks = page.match(blockBelow(side, name))?.length ?? 0;
  if (marks !== 1) throw new Error(`the page has ${marks} blocks for ${side}: ${name}`);
  const text = lines.join('\n').trim() === '' ? '' : `${lines.join('\n').trimEnd()}\n`;
  return page.replace(blockBelow(side, name), (_, mark: string, _old, end: string) => {
    return `${mark}${text}${end}`;
  });
}
