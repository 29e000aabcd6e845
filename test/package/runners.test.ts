// The example of tests with `leasehold/testing`, in a user's project, under each of four runners.

import fs from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { emptyProject, needRegistry, npm, packed, place, projectWith, run } from './packed.ts';

const EXAMPLE = path.join('docs', 'examples', 'testing.test.mjs');
const IMPORT = /^import \{.*\} from 'node:test';\n/m;
const VERSIONS = ['mocha@11.8.0', 'vitest@4.1.12', 'jest@30.5.2'];

describe('tests with leasehold/testing, as a user writes them', function () {
  this.timeout(600_000);
  const example = fs.readFileSync(EXAMPLE, 'utf8');
  let project = '';
  const write = (name: string, text: string): void =>
    fs.writeFileSync(path.join(project, name), text);
  before(async () => {
    project = projectWith({ leasehold: await packed() });
  });

  it('are five, and stand in the document as they run', () => {
    expect(example.match(/^it\(/gm)).to.have.length(5);
    const page = fs.readFileSync(path.join('docs', 'TESTING-WORKERS.md'), 'utf8');
    const body = example.slice(example.search(/^import /m));
    expect(page).to.include(`\`\`\`js\n${body}\`\`\``);
  });

  it('pass under node:test', async () => {
    write('a.test.mjs', example);
    const { code, stdout } = await run(project, process.execPath, ['--test', 'a.test.mjs']);
    expect(stdout).to.match(/pass 5\b/);
    expect(code).to.equal(0);
  });

  it('pass under mocha, vitest and jest', async function () {
    await needRegistry(this);
    // Its own project: npm would remove what this one does not name.
    project = emptyProject();
    const { code, stderr } = await npm(project, ['install', ...VERSIONS]);
    expect(code, stderr).to.equal(0);
    place(project, 'leasehold', await packed());
    write('plain.test.mjs', example.replace(IMPORT, ''));
    write('vitest.test.mjs', example.replace("from 'node:test'", "from 'vitest'"));
    const bin = (name: string): string => path.join('node_modules', name);
    const calls = {
      mocha: [bin('mocha/bin/mocha.js'), 'plain.test.mjs'],
      vitest: [bin('vitest/vitest.mjs'), 'run', 'vitest.test.mjs'],
      jest: [
        ...['--experimental-vm-modules', bin('jest/bin/jest.js')],
        ...['--rootDir', project, '--testMatch', '**/plain.test.mjs'],
      ],
    };
    for (const [name, call] of Object.entries(calls)) {
      const ended = await run(project, process.execPath, call);
      expect(ended.code, `${name}: ${ended.stdout}${ended.stderr}`).to.equal(0);
      expect(ended.stdout + ended.stderr, name).to.match(/5 pass/);
    }
  });
});
