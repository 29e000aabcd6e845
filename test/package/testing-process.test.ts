// A process with a coordinator for tests: how soon it is ready, and what it leaves behind.

import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { relativeToExpress } from './processor.ts';

/** It is 0.65: twice as much would be seen. */
const READY_MAX = 1.1;
const execute = promisify(execFile);

describe('a process with a coordinator for tests', function () {
  const entry = pathToFileURL(path.resolve('dist', 'src', 'testing', 'testing.js')).href;
  let folder = '';
  before(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'leasehold-testing-'));
  });
  after(() => rmSync(folder, { recursive: true }));

  const run = async (code: string): Promise<string> => {
    const script = path.join(folder, 'script.mjs');
    writeFileSync(script, `import { startCoordinator } from ${JSON.stringify(entry)}; ${code}`);
    return (await execute(process.execPath, [script], { cwd: folder })).stdout;
  };

  it('has it ready for less of a processor than it takes to load express', async () => {
    const before = `import { startCoordinator } from ${JSON.stringify(entry)};`;
    const code = 'const it = await startCoordinator()';
    const parts = { before, code, after: 'await it.stop();' };
    expect(await relativeToExpress(parts, folder, READY_MAX)).to.be.within(0.01, READY_MAX);
  });

  it('ends by itself after stop(), with no port and no file left', async () => {
    const code =
      "const it = await startCoordinator(); await it.runOnce(() => 'ok', 'a');" +
      'const url = it.url; await it.stop(); console.log(await fetch(url).catch(() => "closed"));';
    expect(await run(code)).to.equal('closed\n');
    expect(readdirSync(folder)).to.deep.equal(['script.mjs']);
  });
});
