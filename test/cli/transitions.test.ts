// Holds the page about states to the table from which the core decides.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { RECORD_TYPES } from '../../src/model/records.ts';
import { TRANSITIONS } from '../../src/model/transitions.ts';
import { mermaid, statesPage, transitionsText } from '../../src/play/transitions-text.ts';

const page = (name: string): string => readFileSync(path.join(process.cwd(), 'docs', name), 'utf8');

describe('the transitions as text', () => {
  it('are the page docs/STATES.md', () => {
    expect(page('STATES.md'), '`leasehold transitions --page` makes it').equal(statesPage());
  });

  it('have a line each', () => {
    expect(transitionsText().split('\n')).length(TRANSITIONS.length);
  });

  it('make a diagram in which every change of state is an arrow', () => {
    const arrows = mermaid();
    for (const { from, to, record } of TRANSITIONS) {
      if (from === to) continue;
      const start = from === 'NONE' ? '\\[\\*\\]' : from;
      expect(arrows).match(new RegExp(`${start} --> ${to}: .*${record}`));
    }
    expect(arrows).include('COMPLETED --> [*]').and.not.include('WAITING --> [*]');
  });

  it('are explained in words that the glossary has', () => {
    const glossary = page('GLOSSARY.md');
    for (const word of ['lease', 'attempt', 'authority', 'CANCELLED', 'fencing token', 'epoch']) {
      expect(glossary).include(`| ${word} |`);
    }
    for (const type of RECORD_TYPES) expect(page('STATES.md')).include(type);
  });
});
