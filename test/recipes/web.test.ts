// The recipes for web frameworks, each started as a program: what a caller is answered, also when
// it repeats itself and when the coordinator is away, and that the program ends.

import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { Client } from '../../src/index.ts';
import { sharedServer } from '../client/real-server.ts';
import { endPrograms, example, Program } from './program.ts';

const next = (env: Readonly<Record<string, string>>): Program =>
  new Program(process.execPath, [fileURLToPath(new URL('./next-server.js', import.meta.url))], {
    PATH: process.env['PATH'],
    ...env,
  });

const FRAMEWORKS: Readonly<Record<string, (env: Readonly<Record<string, string>>) => Program>> = {
  Express: (env) => example('express.mjs', env),
  Fastify: (env) => example('fastify.mjs', env),
  Next: next,
};

/** Longer than the two tries of two seconds, and far below what the client does by default. */
const AWAY_MS = 15_000;

describe('the recipes for web frameworks', () => {
  const server = sharedServer();
  let client: Client;
  before(() => {
    client = new Client({ url: server.http });
  });
  afterEach(endPrograms);
  after(() => client.close());

  for (const [name, start] of Object.entries(FRAMEWORKS)) {
    describe(name, () => {
      let port = '';
      const run = async (url: string): Promise<Program> => {
        const program = start({ LEASEHOLD_URL: url, PORT: '0' });
        port = (await program.line(/listening on port/)).split(' ').at(-1) ?? '';
        return program;
      };
      const post = async (order: unknown, key?: string) => {
        const headers = { 'content-type': 'application/json' };
        const response = await fetch(`http://127.0.0.1:${port}/orders`, {
          method: 'POST',
          headers: key === undefined ? headers : { ...headers, 'idempotency-key': key },
          body: JSON.stringify(order),
        });
        return { status: response.status, headers: response.headers, body: await response.json() };
      };

      it('answers when the task is accepted, once for each key', async () => {
        const program = await run(server.http);
        const key = `${name}-1`;
        const first = await post({ sku: 'tea' }, key);
        const again = await post({ sku: 'tea' }, key);
        expect([first.status, again.status]).to.deep.equal([202, 202]);
        const { taskId } = first.body as { taskId: string };
        expect(again.body).to.deep.equal({ taskId, deduplicated: true });
        const task = await client.task(taskId);
        expect(task).to.include({ queue: 'orders', requestId: `order:ada:${key}` });
        expect(task.json()).to.deep.equal({ sku: 'tea' });
        expect((await post({ sku: 'coffee' }, key)).status).to.equal(422);
        expect((await post({ sku: 'tea' })).status).to.equal(400);
        expect((await post({ sku: 'tea' }, 'x'.repeat(101))).status).to.equal(400);
        expect(await program.end(), program.lines.join('\n')).to.equal(0);
      });

      it('says in time that the coordinator is away', async () => {
        const program = await run('http://127.0.0.1:9');
        const from = performance.now();
        const { status, headers } = await post({ sku: 'tea' }, `${name}-2`);
        expect(status).to.equal(503);
        expect(headers.get('retry-after')).to.equal('2');
        expect(performance.now() - from).to.be.below(AWAY_MS);
        expect(await program.end()).to.equal(0);
      });
    });
  }
});
