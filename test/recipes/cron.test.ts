// The cron line and the catch-up loop of docs/RECIPES.md, as a shell runs them: a period has one
// task, however often they run.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { Client } from '../../src/index.ts';
import { MAIN, sharedServer } from '../client/real-server.ts';
import { skip } from '../support/skip.ts';
import { endPrograms, Program } from './program.ts';

const page = fs.readFileSync('docs/RECIPES.md', 'utf8');
const lines = [...page.matchAll(/^```crontab\n([\s\S]*?)^```/gm)].flatMap(([, code]) =>
  String(code).trimEnd().split('\n'),
);

/** As cron hands a line to the shell: without its times, and with `\%` as `%`. */
const commandOf = (line: string | undefined): string =>
  String(line)
    .replace(/^(@\w+|(\S+\s+){5})\s*/, '')
    .replaceAll('\\%', '%');

describe('the recipes for cron', () => {
  const server = sharedServer();
  let client: Client;
  let folder = '';
  before(function () {
    const { status } = spawnSync('date', ['-u', '-d', '1 days ago', '+%F']);
    if (status !== 0) skip(this, 'date(1) is not that of GNU');
    client = new Client({ url: server.http });
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'leasehold-cron-'));
    const command = path.join(folder, 'leasehold');
    fs.writeFileSync(command, `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
    fs.chmodSync(command, 0o755);
    fs.copyFileSync('docs/examples/catch-up.sh', path.join(folder, 'catch-up.sh'));
  });
  afterEach(endPrograms);
  after(() => {
    client?.close();
    fs.rmSync(folder, { recursive: true, force: true });
  });

  const run = async (line: string | undefined, url = server.http) => {
    const command = commandOf(line).replace('http://127.0.0.1:5327', url);
    const script = `cd '${folder}' && ${command}`;
    const env = { PATH: `${folder}:${process.env['PATH']}`, HOME: folder };
    const program = new Program('/bin/sh', ['-c', script], env);
    return { status: await program.ended(), said: program.lines };
  };
  const tasks = async (queue: string) => (await client.tasks({ queue })).tasks;

  it('are three lines', () => {
    expect(lines).to.have.length(3);
    expect(commandOf(lines[0])).to.match(/^LEASEHOLD_URL=\S+ leasehold submit/);
    expect(commandOf(lines[2])).to.equal(commandOf(lines[1]));
  });

  it('a line that runs twice in its period has one task', async () => {
    const [first, second] = [await run(lines[0]), await run(lines[0])];
    expect([first.status, second.status], first.said.join('\n')).to.deep.equal([0, 0]);
    const [task, ...more] = await tasks('report');
    expect(more).to.deep.equal([]);
    const { requestId } = task as { requestId: string };
    const day = requestId.replace('report-', '');
    expect(day).to.match(/^\d{4}-\d\d-\d\d$/);
    expect((await client.task(String(task?.taskId))).json()).to.deep.equal({ day });
  });

  it('a coordinator that is away is told to cron', async () => {
    const line = lines[0]?.replace('submit ', 'submit --timeout 200ms ');
    const { status, said } = await run(line, 'http://127.0.0.1:9');
    expect(status, said.join('\n')).to.equal(3);
    expect(said).not.to.deep.equal([]);
  });

  it('the loop submits what was missed, and leaves what is there', async () => {
    const before = await tasks('report');
    expect((await run(lines[1])).status).to.equal(0);
    const after = await tasks('report');
    expect(after).to.have.length(3);
    expect(after.map(({ taskId }) => taskId)).to.include(before[0]?.taskId);
    expect((await run(lines[2])).status).to.equal(0);
    expect(await tasks('report')).to.deep.equal(after);
  });

  it('the loop tells when a day could not be submitted', async () => {
    const { status } = await run('7 * * * *  sh catch-up.sh no+name 2', server.http);
    expect(status).not.to.equal(0);
  });
});
