// The package leasehold-client: the same exports as the main package, nothing of the coordinator
// behind it, small, quickly loaded, with whole declarations, and clear about bundles.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import * as main from '../../src/index.ts';
import { sharedServer } from '../client/real-server.ts';
import { importsOf } from '../house/sources.ts';
import { isPlayed } from '../support/tier.ts';
import {
  link,
  manifestOf,
  needRegistry,
  type Packed,
  pack,
  projectWith,
  run,
  temporaryFolder,
} from './packed.ts';
import { relativeToExpress } from './processor.ts';

const BYTES_MAX = 1_000_000;
/** It is 0.7: twice as much would be seen. */
const LOADED_MAX = 1.15;
const USES = ['strict project', 'bundle'];

const script = (name: string, ...args: string[]) =>
  run(process.cwd(), process.execPath, [path.join('scripts', name), ...args]);

const node = (project: string, code: string) =>
  run(project, process.execPath, ['--input-type=module', '-e', code]);

describe('the package leasehold-client', function () {
  this.timeout(180_000);
  const server = sharedServer();
  let one: Packed;
  let project = '';

  before(async () => {
    const folder = temporaryFolder();
    const { code, stderr } = await script('client-package.mjs', folder);
    expect(code, stderr).to.equal(0);
    one = await pack(folder);
    project = projectWith({ 'leasehold-client': one });
  });

  it('exports what the main package exports', async () => {
    const code = "import * as it from 'leasehold-client'; console.log(Object.keys(it).join(' '))";
    const { stdout, stderr } = await node(project, code);
    expect(stdout.trim().split(' '), stderr).to.deep.equal(Object.keys(main).toSorted());
  });

  it('has a server of tasks neither in it nor behind it', () => {
    const needed = Object.keys(manifestOf(one).dependencies);
    expect(needed.length).to.be.at.most(5);
    expect(needed).not.to.include.members(['lmdb']);
    expect(needed).not.to.include.members(['fastify']);
    expect(needed).not.to.include.members(['pino']);
    const modules = one.files.filter((name) =>
      /^dist\/(?!src\/(client|protocol|model)\/)/.test(name),
    );
    const roots = modules.map((name) => path.posix.basename(name).split('.')[0]);
    expect([...new Set(roots)]).to.have.members(['index', 'monotonic']);
  });

  it('has every module that it imports, and no other dependency', () => {
    const has = new Set(one.files);
    const { dependencies, peerDependencies } = manifestOf(one);
    const known = { ...dependencies, ...peerDependencies };
    const code = one.files.filter((name) => /\.(js|d\.ts)$/.test(name));
    const missing = code
      .flatMap((name) =>
        importsOf({ path: name, text: fs.readFileSync(path.join(one.dir, name), 'utf8') }),
      )
      .filter(({ to, ours }) =>
        ours
          ? !has.has(to) && !has.has(to.replace(/\.ts$/, '.d.ts'))
          : !(to in known) && !to.startsWith('node:'),
      );
    expect(code.length).to.be.greaterThan(40);
    expect(missing).to.deep.equal([]);
    for (const thread of ['heartbeat-thread', 'handler-thread']) {
      expect(one.files).to.include(`dist/src/client/${thread}.js`);
    }
  });

  it('is no larger than a megabyte', () => {
    const bytes = one.files.map((name) => fs.statSync(path.join(one.dir, name)).size);
    expect(bytes.reduce((sum, size) => sum + size, 0)).to.be.below(BYTES_MAX);
  });

  it('is loaded for about what express takes of a processor, and less', async () => {
    const code = "await import('leasehold-client')";
    const ratio = await relativeToExpress({ code }, project, LOADED_MAX);
    expect(ratio).to.be.within(0.01, LOADED_MAX);
  });

  it('submits a task and works on it, with heartbeats from its thread', async () => {
    const code = `
      import { Client, Worker } from 'leasehold-client';
      const url = ${JSON.stringify(server.http)};
      const client = new Client({ url });
      const { taskId } = await client.submit({ queue: 'light', payload: { n: 41 } });
      const worker = new Worker({ url, queues: ['light'], handler: (task) => {
        setImmediate(() => void worker.stop());
        return String(task.json().n + 1);
      } });
      await worker.run();
      console.log(String((await client.task(taskId)).result));
      client.close();`;
    fs.writeFileSync(path.join(project, 'work.mjs'), code);
    const { stdout, stderr } = await run(project, process.execPath, ['work.mjs']);
    expect(stdout, stderr).to.equal('42\n');
  });

  it('traces only where the package for traces is, and runs where it is not', async () => {
    // As a tracer provider is registered by a copy of the API that cannot be found from here.
    const code = `
      globalThis[Symbol.for('opentelemetry.js.api.1')] = { version: '1.9.0', trace: {} };
      const { Client } = await import('leasehold-client');
      const client = new Client({ url: ${JSON.stringify(server.http)} });
      const { metadata } = await client.task((await client.submit({ payload: 'a' })).taskId);
      console.log(metadata);
      client.close();`;
    expect(fs.existsSync(path.join(project, 'node_modules', '@opentelemetry'))).to.equal(false);
    const { stdout, stderr } = await node(project, code);
    expect(stdout, stderr).to.equal('undefined\n');
    expect(manifestOf(one).dependencies).not.to.include.keys('@opentelemetry/api');
    expect(manifestOf(one).peerDependencies).to.have.keys('@opentelemetry/api');
  });

  it('loads nothing for traces while the program registers nothing', async () => {
    link(project, '@opentelemetry/api');
    const code = `
      import { createRequire } from 'node:module';
      import { Client, Worker } from 'leasehold-client';
      const url = ${JSON.stringify(server.http)};
      const loaded = () => Object.keys(createRequire(import.meta.url).cache)
        .some((name) => name.includes('opentelemetry'));
      const client = new Client({ url });
      const work = async () => {
        await client.submit({ queue: 'traces', payload: 'a' });
        await new Worker({ url, queues: ['traces'], handler: () => 'b' }).run({ untilEmpty: true });
        return loaded();
      };
      const before = await work();
      globalThis[Symbol.for('opentelemetry.js.api.1')] = {
        version: '1.9.0', trace: { getTracer: () => ({ startSpan: () => none }) },
      };
      const spanContext = () => ({ traceId: '0'.repeat(32) });
      const none = { spanContext, setAttribute() {}, end() {} };
      console.log(before, await work());
      client.close();`;
    fs.writeFileSync(path.join(project, 'traced.mjs'), code);
    const { stdout, stderr } = await run(project, process.execPath, ['traced.mjs']);
    fs.rmSync(path.join(project, 'node_modules', '@opentelemetry'), { recursive: true });
    expect(stdout, stderr).to.equal('false true\n');
  });

  if (isPlayed('strict project', USES)) {
    it('has declarations that compile in a strict project', () => {
      link(project, '@types/node');
      link(project, 'undici-types');
      fs.writeFileSync(
        path.join(project, 'use.ts'),
        "import { Client, type WorkerOptions } from 'leasehold-client';\n" +
          "const client = new Client({ url: 'http://127.0.0.1:5327' });\n" +
          "export const state = async (): Promise<'WAITING' | string> =>\n" +
          "  (await client.submit({ payload: 'a' })).state;\n" +
          'export type Queues = WorkerOptions["queues"];\n',
      );
      const tsc = path.resolve('node_modules', 'typescript', 'bin', 'tsc');
      const how = ['--strict', '--noEmit', '--module', 'nodenext', '--types', 'node'];
      const lib = ['--target', 'es2023', '--allowImportingTsExtensions'];
      const { status, stdout } = spawnSync(process.execPath, [tsc, ...how, ...lib, 'use.ts'], {
        cwd: project,
        encoding: 'utf8',
      });
      expect(status, stdout).to.equal(0);
    });
  }

  if (isPlayed('bundle', USES)) {
    it('in a bundle: a Client runs, a Worker says what to mark as external', async function () {
      await needRegistry(this);
      fs.writeFileSync(
        path.join(project, 'app.js'),
        `import { Client, Worker } from 'leasehold-client';
      const url = ${JSON.stringify(server.http)};
      const client = new Client({ url });
      await client.submit({ queue: 'bundled', payload: 'a' });
      client.close();
      console.log('submitted');
      const worker = new Worker({ url, queues: ['bundled'], handler() {
        setImmediate(() => void worker.stop());
      } });
      await worker.run().then(() => console.log('worked'), (error) => console.log(error.message));`,
      );
      const bundle = async (name: string, ...more: string[]) => {
        const how = ['--bundle', '--platform=node', '--format=esm', `--outfile=out/${name}.mjs`];
        const made = await run(project, process.execPath, [
          ...[path.resolve('scripts', 'tools.mjs'), 'esbuild'],
          ...[path.join(project, 'app.js'), ...how, ...more],
          `--outfile=${path.join(project, 'out', `${name}.mjs`)}`,
        ]);
        expect(made.code, made.stderr).to.equal(0);
        return run(project, process.execPath, [path.join('out', `${name}.mjs`)]);
      };
      const alone = await bundle('alone');
      expect(alone.stdout, alone.stderr).to.include('submitted\n').and.include('external');
      const beside = await bundle('beside', '--external:leasehold-client');
      expect(beside.stdout, beside.stderr).to.equal('submitted\nworked\n');
    });
  }
});
