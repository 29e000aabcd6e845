// Plays every scenario beside this file and holds it to what is kept. A scenario reads as a story:
// words, commands, `----`, and what happened. `REWRITE=1 npx mocha dist/test/scenarios` writes what
// happens now; commit a difference only when you understand why each line of it changed.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { Stage } from './play.ts';

const DIRECTORY = path.join(process.cwd(), 'test', 'scenarios');
const RULE = '----';

interface Step {
  /** Comments and blank lines before the commands, as they are. */
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

async function played(text: string): Promise<string> {
  const steps = stepsOf(text);
  const [first] = steps.flatMap(({ commands }) => commands);
  const knobs = first?.startsWith('knobs ') ? first.slice('knobs '.length) : '';
  const stage = await Stage.open(knobs);
  const blocks: string[] = [];
  for (const { words, commands } of steps) {
    const seen: string[] = [];
    for (const command of commands) {
      if (!command.startsWith('knobs ')) seen.push(...(await stage.play(command)));
    }
    const happened = commands.length === 0 ? [] : [RULE, ...seen.map(unbroken)];
    blocks.push([...words, ...commands, ...happened].join('\n'));
  }
  return `${blocks.join('\n\n')}\n`;
}

/** A blank line would end the step. */
const unbroken = (text: string): string => text.replaceAll(/\n(?=\n)/g, '\n ');

describe('scenarios', () => {
  const files = readdirSync(DIRECTORY).filter((name) => name.endsWith('.txt'));
  it('are there', () => {
    expect(files.length).to.be.greaterThan(10);
  });
  for (const file of files) {
    it(file.replace('.txt', '').replaceAll('-', ' '), async () => {
      const kept = readFileSync(path.join(DIRECTORY, file), 'utf8');
      const now = await played(kept);
      if (process.env['REWRITE'] !== undefined) writeFileSync(path.join(DIRECTORY, file), now);
      else expect(now).to.equal(kept);
    });
  }
});
