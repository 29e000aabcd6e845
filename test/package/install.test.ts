// The package as a user gets it: from a tarball or the path of a clone, by import or by require.

import fs from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { skip } from '../support/skip.ts';
import {
  emptyProject,
  manifestOf,
  needRegistry,
  npm,
  packed,
  projectWith,
  run,
  temporaryFolder,
  unbuiltClone,
} from './packed.ts';

const node = (project: string, ...args: string[]) => run(project, process.execPath, args);

/** The command of the package, as npm would link it. */
const command = (project: string): string =>
  path.join(project, 'node_modules', 'leasehold', 'dist', 'src', 'cli', 'main.js');

describe('the package, in a project of its own', function () {
  this.timeout(600_000);
  const EXPORTS = "for (const name of ['Client', 'Worker']) console.log(name, typeof it[name]);";
  const FOUND = 'Client function\nWorker function\n';
  let project = '';
  before(async () => {
    project = projectWith({ leasehold: await packed() });
  });

  it('can be imported', async () => {
    const script = `import * as it from 'leasehold'; ${EXPORTS}`;
    const { stdout, stderr } = await node(project, '--input-type=module', '-e', script);
    expect(stdout, stderr).to.equal(FOUND);
  });

  it('can be required, where node can require an ES module', async function () {
    const { require_module: can } = process.features as { require_module?: boolean };
    if (can !== true) skip(this, `node ${process.version} cannot require an ES module`);
    const { stdout, stderr } = await node(
      project,
      ...['--input-type=commonjs', '-e', `const it = require('leasehold'); ${EXPORTS}`],
    );
    expect(stdout).to.equal(FOUND);
    expect(stderr).to.equal('');
  });

  it('has a command that runs', async () => {
    expect(manifestOf(await packed()).bin).to.deep.equal({ leasehold: 'dist/src/cli/main.js' });
    expect((await node(project, command(project), '--version')).stdout).to.match(/^\d+\.\d+\.\d+/);
  });

  it('is installed from its tarball, and fits this version of node', async function () {
    await needRegistry(this);
    const { tarball } = await packed();
    const fresh = emptyProject();
    const { code, stderr } = await npm(fresh, ['install', tarball, '--engine-strict']);
    expect(code, stderr).to.equal(0);
    expect(stderr).not.to.include('EBADENGINE');
    expect((await node(fresh, command(fresh), '--version')).code).to.equal(0);
  });
});

describe('a clone that is not built', function () {
  this.timeout(600_000);

  it('is built by `npm install` with its path, and runs', async function () {
    await needRegistry(this);
    const [project, clone] = [emptyProject(), unbuiltClone()];
    const { code, stderr } = await npm(project, ['install', clone, '--prefer-offline']);
    expect(code, stderr).to.equal(0);
    const script = "import { Client } from 'leasehold'; console.log(typeof Client);";
    const { stdout } = await node(project, '--input-type=module', '-e', script);
    expect(stdout).to.equal('function\n');
    expect((await node(project, command(project), '--version')).code).to.equal(0);
  });

  it('fails the installation with the reason when it does not compile', async () => {
    const [project, clone] = [emptyProject(), unbuiltClone()];
    fs.symlinkSync(path.resolve('node_modules'), path.join(clone, 'node_modules'));
    fs.appendFileSync(path.join(clone, 'src', 'index.ts'), 'export const one: string = 1;\n');
    const { code, stderr } = await npm(project, ['install', clone, '--offline']);
    expect(code).to.equal(1);
    expect(stderr).to.include('building …').and.include("not assignable to type 'string'");
  });

  it('fails the installation with the way out when its own packages cannot be had', async () => {
    const [project, clone] = [emptyProject(), unbuiltClone()];
    const nothing = ['--offline', '--cache', temporaryFolder()];
    const { code, stderr } = await npm(project, ['install', clone, ...nothing]);
    expect(code).to.equal(1);
    expect(stderr).to.include(`cannot be built; run \`npm ci\` in ${clone}`);
  });

  it('may have its own packages installed without a compiler', async () => {
    const clone = unbuiltClone();
    const script = path.join(clone, 'scripts', 'prepare.mjs');
    const { code, stderr } = await run(
      clone,
      ...(['env', [`npm_config_local_prefix=${clone}`, process.execPath, script]] as const),
    );
    expect(code, stderr).to.equal(0);
    expect(stderr).to.include('is not built here');
  });
});
