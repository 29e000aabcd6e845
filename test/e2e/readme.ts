// Owns how the tests read the README: its code blocks by heading and language, as written.

import { readFileSync } from 'node:fs';

/** The tests run from dist/test/e2e, three folders below the project. */
export const README = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8');

export interface Block {
  readonly heading: string;
  readonly language: string;
  readonly text: string;
}

export function blocks(): Block[] {
  const found: Block[] = [];
  let heading = '';
  let open: { language: string; lines: string[] } | undefined;
  for (const line of README.split('\n')) {
    if (open === undefined && line.startsWith('#')) heading = line.replace(/^#+ /, '');
    if (!line.startsWith('```')) open?.lines.push(line);
    else if (open === undefined) open = { language: line.slice(3), lines: [] };
    else {
      found.push({ heading, language: open.language, text: open.lines.join('\n') });
      open = undefined;
    }
  }
  return found;
}

/** @throws Error when the README has no such block: then a test would check nothing. */
export function block(heading: string, language: string, index = 0): string {
  const found = blocks().filter((each) => each.heading === heading && each.language === language);
  const one = found[index];
  if (one === undefined) throw new Error(`no ${language} block ${index} under "${heading}"`);
  return one.text;
}

export interface Step {
  readonly command: string;
  readonly output: string;
}

/** The commands of a transcript, each with what is shown to come of it. */
export function steps(transcript: string): Step[] {
  const found: { command: string; lines: string[] }[] = [];
  for (const line of transcript.split('\n')) {
    if (line.startsWith('$ ')) found.push({ command: line.slice(2), lines: [] });
    else found.at(-1)?.lines.push(line);
  }
  return found.map(({ command, lines }) => ({ command, output: lines.join('\n') }));
}
