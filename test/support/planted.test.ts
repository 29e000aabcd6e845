// Each planted fault finds its text in the compiled program exactly once. So whoever changes a line
// that a proof relies on learns of it in a second, and not when the proof is played.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { tellsMemory } from '../reliability/live-memory.ts';
import * as programFaults from '../reliability/program-faults.ts';
import { tellsDigests } from '../reliability/states.ts';
import { FAULTS } from '../simulator/faults.ts';
import { OWN_FAULTS } from '../simulator/own-faults.ts';
import { plantedFiles } from '../simulator/plant.ts';
import { CLUSTER_FAULTS, SCENE_FAULTS } from '../simulator/replicated/cluster-faults.ts';
import { ACTORS, CompiledFiles, type Patch, PRODUCT } from './planted.ts';

const CLUSTER_ENTRY = 'test/simulator/replicated/run.js';
const FILES = new Map([
  ['src/one.js', 'if (a) {\n    return b;\n}\nconst lease = 1;\n'],
  ['src/two.js', 'const release = 2;\nsay(a, b);\nsay(a, b);\n'],
]);
const textOf = (files: CompiledFiles, file: string): string => files.text(file);

describe('planted faults', () => {
  it('are found in any file, whatever the white space', () => {
    const files = new CompiledFiles(FILES);
    files.plant({ from: 'if(a){ return b; }', to: 'f($&);' });
    expect(textOf(files, 'src/one.js')).to.equal('f($&);\nconst lease = 1;\n');
  });

  it('are added to the file in which a text stands', () => {
    const files = new CompiledFiles(FILES);
    files.plant({ beside: 'const release', add: (all) => `// ${all.fileOf('const lease')}` });
    expect(textOf(files, 'src/two.js')).to.match(/\n\/\/ src\/one\.js\n$/);
  });

  it('are refused when their text stands nowhere, twice, or in a longer word', () => {
    const files = new CompiledFiles(FILES);
    const plant = (from: string) => () => files.plant({ from, to: '' });
    expect(plant('say(b)')).to.throw('stands nowhere: say(b)');
    expect(plant('say(a, b);')).to.throw('stands src/two.js, src/two.js: say(a, b);');
    expect(plant('lease = 2')).to.throw('nowhere');
    expect(plant('const leas')).to.throw('nowhere');
    expect(plant('const lease = 1')).to.not.throw();
  });

  for (const [name, patches] of Object.entries(programFaults)) {
    it(`of the program can be planted: ${name}`, () => {
      const files = CompiledFiles.of(PRODUCT);
      for (const patch of Object.values<Patch>(patches)) files.plant(patch);
    });
  }

  it('tell digests, and the memory of each thread', () => {
    const files = CompiledFiles.of(PRODUCT);
    const directory = mkdtempSync(path.join(tmpdir(), 'leasehold-planted-'));
    for (const patch of [...tellsDigests('x'), ...tellsMemory(directory, 1)]) files.plant(patch);
    rmSync(directory, { recursive: true });
  });

  for (const [actor, text] of Object.entries(ACTORS)) {
    it(`can be planted in the actor ${actor}`, () => {
      expect(CompiledFiles.of(PRODUCT).fileOf(text)).to.include(actor);
    });
  }

  for (const fault of [...FAULTS, ...OWN_FAULTS]) {
    it(`of the simulator can be planted: ${fault.name}`, () => {
      plantedFiles(fault);
    });
  }

  const inCluster = CLUSTER_FAULTS.map((fault) => ({ ...fault, entry: CLUSTER_ENTRY }));
  for (const fault of [...inCluster, ...SCENE_FAULTS]) {
    it(`of the simulator of several nodes can be planted: ${fault.name}`, () => {
      plantedFiles(fault, [fault.entry]);
    });
  }
});
