// Typed payloads with the libraries themselves, in a user's project. Each checks a payload before a
// task is sent, types what the handler gets, and turns what does not fit into a permanent failure
// that names the field. The types are compiled as strictly as they can be.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { sharedServer } from '../client/real-server.ts';
import { emptyProject, link, needRegistry, npm, packed, place, run } from './packed.ts';

const VERSIONS = ['zod@4.6.7', 'valibot@1.5.0', 'arktype@2.2.10'];

const LIBRARIES: Readonly<Record<string, string>> = {
  zod: "import * as z from 'zod';\nconst Mail = z.object({ to: z.string(), copies: z.number() });",
  valibot:
    "import * as v from 'valibot';\n" +
    'const Mail = v.object({ to: v.string(), copies: v.number() });',
  arktype:
    "import { type } from 'arktype';\nconst Mail = type({ to: 'string', copies: 'number' });",
};

const program = (url: string, queue: string, schema: string): string => `
${schema}
import { Client, Worker } from 'leasehold';

const url = '${url}';
const queue = '${queue}';
const client = new Client({ url });
const mails = client.queue(queue, { schema: Mail });
const good = await mails.submit({ payload: { to: 'ada', copies: 2 } });
// @ts-expect-error: copies is a number.
const refused = await mails.submit({ payload: { to: 'ada', copies: 'two' } }).catch((e) => e);
const bad = await client.submit({ queue, payload: { to: 'ada', copies: 'two' } });
const worker = new Worker({
  url,
  queues: [queue],
  schema: Mail,
  quiet: true,
  handler: (task) => {
    const { to, copies } = task.json();
    const upper: string = to.toUpperCase();
    return upper.repeat(copies);
  },
});
await worker.run({ untilEmpty: true });
const [done, failed] = [await client.task(good.taskId), await client.task(bad.taskId)];
client.close();
console.log(JSON.stringify({
  result: String(done.result),
  refused: refused.message,
  state: failed.state,
  kind: failed.lastFailureKind,
  reason: failed.lastFailureReason,
}));
`;

describe('typed payloads, as a user writes them', function () {
  this.timeout(240_000);
  const server = sharedServer();
  let project = '';
  before(async function () {
    await needRegistry(this);
    project = emptyProject();
    const { code, stderr } = await npm(project, ['install', ...VERSIONS]);
    expect(code, stderr).to.equal(0);
    place(project, 'leasehold', await packed());
    link(project, '@types/node');
    link(project, 'undici-types');
  });

  for (const [name, schema] of Object.entries(LIBRARIES)) {
    it(`work with ${name}`, async () => {
      const file = `${name}.mts`;
      fs.writeFileSync(path.join(project, file), program(server.http, name, schema));
      const tsc = path.resolve('node_modules', 'typescript', 'bin', 'tsc');
      const how = ['--strict', '--module', 'nodenext', '--target', 'es2023', '--types', 'node'];
      const compiled = spawnSync(process.execPath, [tsc, ...how, '--skipLibCheck', file], {
        cwd: project,
        encoding: 'utf8',
      });
      expect(compiled.status, compiled.stdout).to.equal(0);
      const { stdout, stderr } = await run(project, process.execPath, [`${name}.mjs`]);
      const said = JSON.parse(stdout || '{}') as Record<string, string>;
      expect(said, stderr).to.include({ result: 'ADAADA', state: 'FAILED', kind: 'permanent' });
      expect(said['refused']).to.match(/copies/);
      expect(said['reason']).to.match(/copies/);
    });
  }
});
