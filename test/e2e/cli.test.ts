// The command line against a real server: what it prints, and its exit statuses. Each command runs
// in this process, but those whose streams, signals or end only a process can show.

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { EXECUTABLE, Process } from '../../src/play/demo/processes.ts';
import { command, type Ran } from '../support/command.ts';
import { ownPort } from '../support/own-port.ts';
import { cleanEnv, type Fields } from '../support/server.ts';
import { Stage } from './support.ts';

describe('the command line', () => {
  let stage: Stage;
  before(async () => {
    stage = await Stage.open();
    await stage.serve(['--backoff-ms', '0']).ready();
  });
  after(() => stage.close());

  async function run(status: number, args: readonly string[], stdin = ''): Promise<Ran> {
    const ran = await command(args, { stdin, env: { LEASEHOLD_URL: stage.url } });
    expect(ran.code, `${args.join(' ')}: ${ran.out}${ran.err}`).to.equal(status);
    return ran;
  }
  const json = ({ out }: Ran): Fields => JSON.parse(out) as Fields;
  const jsonLines = ({ out }: Ran): Fields[] =>
    out
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Fields);

  async function submitted(...args: string[]): Promise<string> {
    return String(json(await run(0, ['submit', '--json', ...args], 'p'))['task_id']);
  }
  async function leased(queue: string): Promise<string> {
    const ran = await run(0, ['lease', '--worker', 'w', '--queue', queue, '--json']);
    return String((json(ran)['leases'] as Fields[])[0]?.['lease_id']);
  }

  it('is a process that reads and prints, and ends with the status of the command', async () => {
    const status = async (args: readonly string[], stdin = ''): Promise<number | null> =>
      (await stage.run(args, stdin)).code;
    const bytes = '\u00e9\n'.repeat(100_000);
    const submit = await stage.run(['submit', '--queue', 'piped', '--json'], bytes);
    expect(submit.code, submit.err).to.equal(0);
    const read = await stage.run(['task', String(json(submit)['task_id']), '--json']);
    expect(json(read)['payload']).to.equal(bytes);
    expect(await status(['task', 'T999999'])).to.equal(1);
    expect(await status(['nonsense'])).to.equal(2);
    expect(await status(['stats', '--url', 'http://127.0.0.1:1'])).to.equal(3);
    expect(await status(['lease', '--worker', 'w', '--queue', 'nothing'])).to.equal(5);
    const help = await stage.run(['submit', '--help']);
    expect([help.code, help.out.includes('--request-id')]).to.deep.equal([0, true]);
  });

  it('ends with 2 for what it does not understand, having said what', async () => {
    const wrong: [string[], string][] = [
      [['nonsense'], 'nonsense'],
      [['help', 'nonsense'], 'nonsense'],
      [['nonsense', '--help'], 'nonsense'],
      [['constructor'], 'constructor'],
      [['help', 'sumbit'], 'did you mean submit?'],
      [['task', '42'], '42'],
      [['complete', 'T1'], 'T1'],
      [['lease'], '--worker'],
      [['lease', '--worker', 'w', '--wait', 'long'], '--wait'],
      [['submit', '--request-id-prefix', 'p'], '--lines'],
      [['submit', '--metadata', 'novalue'], 'novalue'],
      [['tasks', '--state', 'RUNNING'], 'RUNNING'],
      [['tasks', '--after', '42'], '42'],
      [['kill'], '--state'],
      [['redrive', 'T1', '--queue', 'q'], 'not both'],
      [['log', '--limit', '3'], '--from'],
      [['stats', '--url', 'ftp://x'], '--url'],
      [['submit', '--file', 'gone'], 'gone'],
    ];
    for (const [args, word] of wrong) expect((await run(2, args)).err).to.include(word);
    const { err } = await run(2, ['cancel', 'T1']);
    expect(err).to.equal('kill (CANCELLED is what a worker is told when its lease is lost)\n');
  });

  it('shows its version and its help, whichever way it is asked', async () => {
    const { out: version } = await run(0, ['version']);
    expect(version).to.match(/^\d+\.\d+\.\d+\n$/);
    for (const flag of ['-v', '-V', '--version']) expect((await run(0, [flag])).out).equal(version);
    const { out: help } = await run(0, ['submit', '--help']);
    for (const args of [
      ['help', 'submit'],
      ['submit', '-h'],
    ]) {
      expect((await run(0, args)).out).equal(help);
    }
    expect((await run(0, ['help'])).out).to.include('submit');
  });

  it('tells of variables that mean nothing, and goes on', async () => {
    const wrong = { LEASEHOLD_ULR: 'http://127.0.0.1:1', LEASEHOLD_PORT: 'tcp://10.0.0.1:5327' };
    const ran = await command(['stats'], { env: { LEASEHOLD_URL: stage.url, ...wrong } });
    expect(ran.code).equal(0);
    expect(ran.err).equal(
      'leasehold: the environment variable LEASEHOLD_ULR has no meaning and is ignored;' +
        ' did you mean LEASEHOLD_URL?\n',
    );
  });

  it('ends with 3 when there is no server', async () => {
    const url = `http://127.0.0.1:${await ownPort()}`;
    expect((await run(3, ['stats', '--url', url])).err)
      .to.include(url)
      .and.include('ECONNREFUSED');
  });

  it('ends with 1 when it is refused, and 5 when there is nothing to lease', async () => {
    expect((await run(1, ['task', 'T999999'])).err).to.include('unknown_task');
    expect((await run(1, ['heartbeat', 'L1'])).err).to.include('unknown_lease');
    expect((await run(5, ['lease', '--worker', 'w', '--queue', 'nothing'])).err).to.include(
      'no_task',
    );
    const { out } = await run(5, ['lease', '--worker', 'w', '--queue', 'nothing', '--json']);
    expect(JSON.parse(out)).to.deep.include({ leases: [] });
    expect(out).to.match(/^[^\n]+\n$/); // One line, as the server's answer is.
    const { err } = await run(1, ['task', 'T999999', '--json']);
    expect(JSON.parse(err)).to.include({ outcome: 'REJECTED', reason: 'unknown_task' });
  });

  it('carries any bytes there and back', async () => {
    const bytes = Buffer.from([0xff, 0x00, 0x0a, 0x80]);
    const file = path.join(stage.dir, 'bytes');
    writeFileSync(file, bytes);
    const id = json(await run(0, ['submit', '--file', file, '--queue', 'bytes', '--json']))[
      'task_id'
    ];
    const lease = await leased('bytes');
    await run(0, ['complete', lease, '--file', file]);
    const task = json(await run(0, ['task', String(id), '--json']));
    expect(task).to.include({ state: 'COMPLETED', payload_base64: bytes.toString('base64') });
    expect(task['result_base64']).to.equal(bytes.toString('base64'));
    expect((await run(0, ['task', String(id)])).out).to.include('4 bytes, no text');
  });

  it('submits one task a line, and the same tasks when it is run again', async () => {
    const text = Array.from({ length: 1_201 }, (_, i) => `line ${i}\n`).join('');
    const args = ['submit', '--lines', '--queue', 'many', '--request-id-prefix', 'import'];
    const first = await run(0, args, text);
    expect(first.out).to.match(/^1201 tasks submitted: T\d+ to T\d+\n$/);
    const again = await run(0, [...args, '--json'], text);
    const answers = jsonLines(again);
    expect(answers).to.have.length(1_201);
    expect(answers.every(({ deduplicated }) => deduplicated === true)).to.equal(true);
    expect((await run(0, args, text)).out).to.match(/^0 tasks submitted, 1201 submitted before/);
    const found = json(await run(0, ['tasks', '--request-id', 'import:1201', '--json']));
    expect(found['task_id']).to.equal(answers.at(-1)?.['task_id']);
    const { err } = await run(1, args, 'another first line\n');
    expect(err).to.include('line 1').and.include('request_id_conflict');
  });

  it('waits for a task, and its end decides the status', async () => {
    for (const [end, status] of [
      ['complete', 0],
      ['kill', 1],
    ] as const) {
      const queue = `wait-${end}`;
      const waiting = run(status, ['submit', '--queue', queue, '--wait', '--json'], 'p');
      let lease: Fields | undefined;
      while (lease === undefined) {
        const body = { worker_id: 'w', queues: [queue], wait_ms: 5_000 };
        const answer = await stage.call('POST', '/v1/leases', body);
        [lease] = answer.body['leases'] as Fields[];
      }
      if (end === 'complete') await run(0, ['complete', String(lease['lease_id'])]);
      else await run(0, ['kill', String(lease['task_id'])]);
      expect(json(await waiting)['state']).to.equal(end === 'kill' ? 'DEAD' : 'COMPLETED');
    }
  });

  it('kills and redrives what a filter finds, and shows it first when asked to', async () => {
    const ids = [];
    for (let i = 0; i < 3; i++) ids.push(await submitted('--queue', 'doomed'));
    const dry = await run(0, ['kill', '--queue', 'doomed', '--dry-run', '--limit', '2']);
    expect(dry.out).to.equal(`${ids[0]}\n${ids[1]}\n`);
    const killed = await run(0, ['kill', '--queue', 'doomed', '--note', 'poison', '--json']);
    expect(jsonLines(killed).map(({ task_state }) => task_state)).to.deep.equal(
      Array(3).fill('DEAD'),
    );
    const again = await run(1, ['kill', ...ids]);
    expect(again.err.match(/task_terminal/g)).to.have.length(3);
    const redriven = jsonLines(await run(0, ['redrive', '--queue', 'doomed', '--json']));
    expect(redriven.map(({ origin_task_id }) => origin_task_id)).to.deep.equal(ids);
    expect((await run(0, ['redrive', '--queue', 'doomed'])).out).to.equal('');
  });

  it('writes the note of a kill, and takes a reason only to select', async () => {
    const [first, second] = [
      await submitted('--queue', 'noted'),
      await submitted('--queue', 'noted'),
    ];
    await run(0, ['fail', await leased('noted'), 'disk full', '--kind', 'released']);
    const killed = await run(0, [
      'kill',
      '--queue',
      'noted',
      '--reason',
      'disk',
      '--note',
      'why not',
    ]);
    expect(killed.out).to.include(`COMMITTED ${first} DEAD`);
    const [record] = jsonLines(await run(0, ['log', '--task', first, '--tail', '1', '--json']));
    expect(record).to.include({ type: 'TaskDead', reason: 'why not' });
    expect(json(await run(0, ['task', second, '--json']))['state']).to.equal('WAITING');
    expect((await run(2, ['kill', second, '--reason', 'x'])).err).to.include('--note');
    expect((await run(0, ['kill', '--reason', 'no such failure'])).err).to.include(
      'no task matches',
    );
    expect(json(await run(0, ['task', second, '--json']))['state']).to.equal('WAITING');
  });

  it('ends with 2 also when it is the server that finds a name wrong', async () => {
    const task = await submitted('--queue', 'right');
    for (const args of [
      ['submit', '--queue', 'no such queue'],
      ['lease', '--worker', 'w', '--queue', 'no such queue'],
      ['lease', '--worker', ''],
      ['tasks', '--queue', 'no such queue'],
      ['log', '--queue', 'no such queue'],
      ['kill', '--queue', 'no such queue'],
      ['kill', task, '--note', 'x'.repeat(5_000)],
      ['submit', '--lines', '--queue', 'no such queue'],
      ['submit', '--request-id', 'x'.repeat(300)],
      ['explain', task, '--at', '999999'],
    ]) {
      expect((await run(2, args, 'p')).err, args.join(' ')).to.include('malformed');
    }
    expect(json(await run(0, ['task', task, '--json']))['state']).to.equal('WAITING');
  });

  it('takes the payload as an argument, and waits no longer than it is told', async () => {
    const ran = await run(0, ['submit', 'hello', '--queue', 'argued', '--json']);
    const { task_id: id } = json(ran);
    expect(json(await run(0, ['task', String(id), '--json']))['payload']).to.equal('hello');
    const waited = await run(1, ['submit', 'hello', '--queue', 'argued', '--wait', '300ms']);
    expect(waited.err).to.match(/^T\d+ is submitted, record \d+; waiting for its end\n/);
    expect(waited.err).to.match(/T\d+ is WAITING, not over after 300 ms\n$/);
    expect((await run(2, ['submit', '--wait', 'hello'])).err).to.include('before --wait');
    expect((await run(2, ['submit', 'a', '--file', 'b'])).err).to.include('not both');
  });

  it('says that a task is unknown whose records are asked for', async () => {
    expect((await run(1, ['log', '--task', 'T999999'])).err).to.include('unknown_task');
    expect((await run(1, ['log', '--task', 'T999999', '--follow'])).err).to.include('unknown_task');
    const id = await submitted('--queue', 'known');
    expect((await run(0, ['log', '--task', id, '--from', '999999'])).out).to.equal('');
  });

  it('redrives only what failed for the reason that is asked for', async () => {
    for (const reason of ['disk full', 'no route']) {
      await submitted('--queue', 'why', '--max-retries', '0');
      await run(0, ['fail', await leased('why'), reason]);
    }
    const found = await run(0, ['redrive', '--queue', 'why', '--reason', 'disk', '--json']);
    expect(jsonLines(found)).to.have.length(1);
  });

  it('shows the last records, those of one task, and those from a number on', async () => {
    const id = await submitted('--queue', 'shown');
    const lines = (ran: Ran): string[] => ran.out.trimEnd().split('\n');
    expect(lines(await run(0, ['log']))).to.have.length(20);
    expect(lines(await run(0, ['log', '--tail', '3']))).to.have.length(3);
    expect(lines(await run(0, ['log', '--from', '1', '--limit', '2']))[0]).to.match(/^1 .*Started/);
    const [line, ...others] = lines(await run(0, ['log', '--task', id]));
    expect(line).to.include(`TaskCreated ${id} → WAITING queue shown`);
    expect(others).to.deep.equal([]);
    expect(jsonLines(await run(0, ['log', '--task', id, '--json']))[0]).to.include({ task_id: id });
  });

  it('follows the log', async () => {
    const env = cleanEnv({ LEASEHOLD_URL: stage.url });
    const follower = new Process([EXECUTABLE, 'log', '--follow', '--queue', 'followed'], env);
    try {
      const ids: string[] = [];
      while (ids.length < 3 || !ids.slice(-2).every((id) => follower.out.includes(id))) {
        ids.push(await submitted('--queue', 'followed'));
        expect(follower.over, follower.err).to.equal(undefined);
      }
      const seen = [...follower.out.matchAll(/^(\d+) /gm)].map(([, seq]) => Number(seq));
      expect(seen).to.deep.equal(seen.toSorted((a, b) => a - b));
      expect(new Set(seen).size).to.equal(seen.length);
    } finally {
      await follower.destroy();
    }
  });

  it('tells the story of a task, also as an image', async () => {
    const id = await submitted('--queue', 'story');
    expect((await run(0, ['explain', id])).out).to.include(`${id} · queue story · WAITING`);
    expect(json(await run(0, ['explain', id, '--json']))).to.be.an('object');
    const file = path.join(stage.dir, 'story.svg');
    await run(0, ['explain', id, '--svg', file]);
    expect(readFileSync(file, 'utf8')).to.include('<svg');
    expect((await run(0, ['explain', id, '--svg', '-'])).out).to.include('<svg');
    const both = path.join(stage.dir, 'both.svg');
    const story = await run(0, ['explain', id, '--svg', both, '--json']);
    expect(json(story)).to.have.property('task_id', id);
    expect(readFileSync(both, 'utf8')).to.include('<svg');
    expect((await run(2, ['explain', id, '--svg', '-', '--json'])).err).to.include('--svg');
    expect((await run(1, ['explain', id, '--svg', stage.dir])).err).to.include(
      `--svg ${stage.dir}: it is a directory (EISDIR)`,
    );
    expect((await run(1, ['explain', 'T999999'])).err).to.include('unknown_task');
  });

  it('does not mind a reader that has seen enough', async () => {
    const log = `"${process.execPath}" "${EXECUTABLE}" log --from 1 --limit 1000 --json`;
    const script = `${log} | head -n 1`;
    const env = cleanEnv({ LEASEHOLD_URL: stage.url });
    const shell = new Process(['-e', runsShell(script)], env);
    expect((await shell.ended).code).to.equal(0);
    expect(shell.err).to.equal('');
    expect(shell.out).to.include('CoordinatorStarted');
  });

  it('bears a token from the environment or a file, and says when one is missing', async () => {
    const guarded = await Stage.open();
    const file = path.join(guarded.dir, 'token');
    writeFileSync(file, 'secret-abc\n');
    try {
      await guarded.serve(['--token-file', file]).ready();
      const url = { LEASEHOLD_URL: guarded.url };
      const refused = await command(['stats'], { env: url });
      expect(refused.code).to.equal(1);
      expect(refused.err).to.include('unauthorized').and.include('--token-file');
      const worker = await command(['work', '--exec', 'cat'], { env: url });
      expect(worker).to.deep.equal({ ...refused, out: '' });
      const ofFile = await command(['stats', '--token-file', file], { env: url });
      expect(ofFile.code).to.equal(0);
      const env = { ...url, LEASEHOLD_TOKEN: 'secret-abc' };
      expect((await command(['submit'], { stdin: 'p', env })).code).to.equal(0);
    } finally {
      await guarded.close();
    }
  });
});

/** A node script that runs a pipe in a shell, so that the test can wait for all of it. */
const runsShell = (script: string): string =>
  `const { status } = require('node:child_process')` +
  `.spawnSync('sh', ['-c', ${JSON.stringify(script)}], { stdio: 'inherit' });` +
  'process.exitCode = status ?? 1;';
