// Owns files that tell what was done and what came of it: words, commands, `----`, and what
// happened. Such a file is played again and must read the same. `npm run golden` writes what
// happens now.

import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';

const RULE = '----';
const WHAT_NOW = 'if every difference is meant, `npm run golden` writes it down';

interface Step {
  /** Comments before the commands, as they are. */
  readonly words: readonly string[];
  readonly commands: readonly string[];
}

/** Steps are divided by blank lines; what stands below a rule is checked, not read. */
function stepsOf(text: string): Step[] {
  return text
    .split(/\n\n+/)
    .map((block) => block.split('\n').filter((line) => line !== ''))
    .filter((lines) => lines.length > 0)
    .map((lines) => {
      const end = lines.indexOf(RULE);
      const asked = end < 0 ? lines : lines.slice(0, end);
      const words = asked.filter((line) => line.startsWith('#'));
      return { words, commands: asked.filter((line) => !line.startsWith('#')) };
    });
}

/** The commands of a script, in order. */
export const commandsOf = (text: string): string[] =>
  stepsOf(text).flatMap(({ commands }) => commands);

/** @param play gives the lines that a command leads to. @returns the script with what happened. */
export async function replayed(
  text: string,
  play: (command: string) => Promise<readonly string[]>,
): Promise<string> {
  const blocks: string[] = [];
  for (const { words, commands } of stepsOf(text)) {
    const seen: string[] = [];
    for (const command of commands) seen.push(...(await play(command)));
    const happened = commands.length === 0 ? [] : [RULE, ...seen.map(unbroken)];
    blocks.push([...words, ...commands, ...happened].join('\n'));
  }
  return `${blocks.join('\n\n')}\n`;
}

/** A blank line would end the step. */
const unbroken = (text: string): string => text.replaceAll(/\n(?=\n|$)/g, '\n ');

/** Holds a kept file to what happens now, or writes it anew where that was asked for. */
export function holdsTo(file: string, now: string): void {
  if (process.env['REWRITE'] !== undefined) writeFileSync(file, now);
  else expect(now, WHAT_NOW).to.equal(readFileSync(file, 'utf8'));
}
