// Plays every scenario beside this file and holds it to what is kept. A scenario reads as a story:
// words, commands, `----`, and what happened. `npm run golden` writes what happens now; commit a
// difference only when you understand why each line of it changed.

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { commandsOf, holdsTo, replayed } from '../support/script.ts';
import { Stage } from './play.ts';

const DIRECTORY = path.join(process.cwd(), 'test', 'scenarios');
async function played(text: string): Promise<string> {
  const [first] = commandsOf(text);
  const knobs = first?.startsWith('knobs ') ? first.slice('knobs '.length) : '';
  const stage = await Stage.open(knobs);
  return replayed(text, (command) =>
    command.startsWith('knobs ') ? Promise.resolve([]) : stage.play(command),
  );
}

describe('scenarios', () => {
  const files = readdirSync(DIRECTORY).filter((name) => name.endsWith('.txt'));
  it('are there', () => {
    expect(files.length).to.be.greaterThan(10);
  });
  for (const file of files) {
    it(file.replace('.txt', '').replaceAll('-', ' '), async () => {
      const kept = path.join(DIRECTORY, file);
      holdsTo(kept, await played(readFileSync(kept, 'utf8')));
    });
  }
});
