// The note that a data directory is a copy: whatever it says, a gap is left.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { forgetNote, noteRestored, skipOf } from '../../actors/supervisor/restored.ts';

describe('the note of a restored log', () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(path.join(os.tmpdir(), 'leasehold-note-'));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  it('asks for a million numbers until it is forgotten', () => {
    expect(skipOf(dir)).to.equal(0);
    noteRestored(dir);
    expect(skipOf(dir)).to.equal(1_000_000);
    forgetNote(dir);
    expect(skipOf(dir)).to.equal(0);
  });

  it('asks for a gap that fits into the numbers, whatever somebody wrote into it', () => {
    const notes = ['', 'x', '{}', 'null', '{"skip":-1}', '{"skip":0}', '{"skip":1.5}'];
    for (const note of notes) {
      writeFileSync(path.join(dir, 'restored'), note);
      expect(skipOf(dir), note).to.equal(1_000_000);
    }
    writeFileSync(path.join(dir, 'restored'), '{"skip":9007199254740991}');
    expect(skipOf(dir)).to.equal(1_000_000_000_000);
    writeFileSync(path.join(dir, 'restored'), '{"skip":5}');
    expect(skipOf(dir)).to.equal(5);
  });

  it('asks for one too when it cannot be read', () => {
    mkdirSync(path.join(dir, 'restored'));
    expect(skipOf(dir)).to.equal(1_000_000);
  });
});
