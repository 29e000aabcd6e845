// `doctor` on the real executable: a server, a directory in use, a directory at rest, damage.

import { readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import type { Fields, Server } from '../support/server.ts';
import { Stage } from './support.ts';

interface Told {
  readonly where: string;
  readonly verdict: string;
  readonly findings: readonly Fields[];
}

const verdictOf = (told: Told, check: string): unknown =>
  told.findings.find((one) => one['check'] === check)?.['verdict'];
const figureOf = (told: Told, check: string): string =>
  String(told.findings.find((one) => one['check'] === check)?.['figure']);

/** Every file below a directory with its size and the time of its last change. */
const filesIn = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((name) => path.join(dir, name))
    .filter((file) => statSync(file).isFile())
    .map((file) => `${file} ${statSync(file).size} ${statSync(file).mtimeMs}`)
    .sort();

describe('doctor', () => {
  let stage: Stage;
  let server: Server;

  before(async () => {
    stage = await Stage.open();
    const flags = ['--poison-threshold', '3', '--lease-duration-ms', '50'];
    const socket = ['--socket-path', path.join(stage.dir, 's')];
    server = await stage.serve([...flags, ...socket]).ready();
  });
  after(() => stage.close());

  async function told(where: string[], code?: number): Promise<Told> {
    const ran = await stage.run(['doctor', ...where, '--json']);
    const found = JSON.parse(ran.out) as Told;
    expect(ran.code, ran.out).to.equal(code ?? (found.verdict === 'bad' ? 1 : 0));
    return found;
  }

  it('finds the queue that nobody asks for, and the task that is near its end', async () => {
    await stage.submit({ queue: 'lonely' });
    const { task_id: id } = (await stage.submit({ queue: 'poison' })).body;
    for (let n = 0; n < 2; n += 1) {
      const asked = { worker_id: 'w', queues: ['poison'], wait_ms: 30_000 };
      await stage.call('POST', '/v1/leases', asked);
    }
    const wait = async (): Promise<unknown> =>
      (await stage.call('GET', `/v1/tasks/${id}`)).body['expirations'];
    while ((await wait()) !== 2) await new Promise((resolve) => setTimeout(resolve, 20));
    const found = await told([]);
    expect(found.where).to.equal(stage.url);
    expect(verdictOf(found, 'server'), figureOf(found, 'server')).to.not.equal('bad');
    expect(verdictOf(found, 'version')).to.equal('ok');
    expect(verdictOf(found, 'clock')).to.equal('ok');
    expect(figureOf(found, 'queues')).to.include('lonely').and.not.to.include('poison');
    expect(figureOf(found, 'poison')).to.include(`${id} ran out 2 times; 3 in a row`);
    expect(verdictOf(found, 'poison')).to.equal('bad');
    expect(found.verdict).to.equal('bad');
    expect(figureOf(found, 'disk flush')).to.match(/commits\)$/);
    const page = await stage.run(['doctor', stage.url]);
    expect(page.code).to.equal(1);
    expect(page.out)
      .to.match(/^bad {3}poison .*$/m)
      .and.to.include('docs/OPERATING.md#overview');
    for (const line of page.out.split('\n')) expect(line.length, line).to.be.at.most(80);
  });

  it('reads a directory beside its server, and changes nothing', async () => {
    const before = filesIn(stage.dataDir);
    const found = await told([stage.dataDir]);
    expect(filesIn(stage.dataDir)).to.deep.equal(before);
    expect(figureOf(found, 'in use')).to.include('a server runs on it');
    expect(figureOf(found, 'log')).to.match(/^the last \d+ of \d+ records are sound/);
    expect(figureOf(found, 'disk flush')).to.match(/ ms, at most .* \(20 writes of 4 KiB\)/);
    expect(figureOf(found, 'poison')).to.include('no task is near');
    expect((await stage.call('GET', '/readyz')).status).to.equal(200);
  });

  it('says when no server is there, and when there is no such directory', async () => {
    expect((await stage.run(['doctor', 'http://127.0.0.1:9'])).code).to.equal(3);
    const gone = await stage.run(['doctor', path.join(stage.dir, 'nowhere')]);
    expect(gone).to.include({ code: 1, out: '' });
    expect(gone.err).to.include('nowhere');
    const empty = await told([stage.dir], 1);
    expect(figureOf(empty, 'log')).to.include('there is no log');
  });

  it('tells over a socket what can be told there', async () => {
    const ran = await stage.run(['doctor', `unix:${path.join(stage.dir, 's')}`]);
    expect(ran.out, ran.err).to.match(/^look {2}disk, files/m);
    // The task that is near its end is bad here, too.
    expect(ran.code).to.equal(1);
  });

  it('finds damage at the end of a log', async () => {
    for (let n = 0; n < 20; n += 1) await stage.submit({ payload: 'p'.repeat(2_000) });
    server.kill('SIGTERM');
    await server.ended;
    const sound = await told([stage.dataDir]);
    expect(figureOf(sound, 'in use')).to.equal('no server runs on it');
    expect(verdictOf(sound, 'log'), figureOf(sound, 'log')).to.equal('ok');
    const [segment = ''] = readdirSync(path.join(stage.dataDir, 'log'));
    const file = path.join(stage.dataDir, 'log', segment, 'data.mdb');
    const bytes = readFileSync(file);
    const last = bytes.lastIndexOf('ppppp');
    writeFileSync(file, bytes.fill('x', last - 500, last));
    const found = await told([stage.dataDir], 1);
    expect(verdictOf(found, 'log')).to.equal('bad');
    expect(figureOf(found, 'log')).to.include('LOG_CORRUPT');
    truncateSync(file, 4_096);
    expect((await stage.run(['doctor', stage.dataDir])).code).to.equal(1);
  });
});
