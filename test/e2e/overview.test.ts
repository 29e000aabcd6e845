// What an operator sees of the real executable: queues, workers and tasks, in tables that fit.

import { expect } from 'chai';
import { widthOf } from '../../src/cli/table.ts';
import { command, type Ran } from '../support/command.ts';
import type { Fields } from '../support/server.ts';
import { Stage } from './support.ts';

const LONG = `tenant-0001:${'resize-images.'.repeat(8)}end`;
const WORKER = `عامل/日本/${'host'.repeat(20)}:1`;

describe('the overview of an operator', () => {
  let stage: Stage;

  before(async () => {
    stage = await Stage.open();
    // A lease is still held when the last of these looks, however slow the machine is.
    await stage.serve(['--lease-duration-ms', '600000']).ready();
    await stage.submit({ queue: LONG });
    await stage.submit({ queue: 'late', delay_ms: 3_600_000 });
    await stage.submit({ queue: 'mail' });
    await stage.submit({ queue: 'mail' });
    const asked = { worker_id: WORKER, queues: ['mail'], capacity: 3 };
    await stage.call('POST', '/v1/leases', asked);
  });
  after(() => stage.close());

  async function run(args: readonly string[], status = 0): Promise<Ran> {
    const ran = await command(args, { env: { LEASEHOLD_URL: stage.url, COLUMNS: '80' } });
    expect(ran, `${args.join(' ')}: ${ran.err}`).to.include({ code: status });
    return ran;
  }

  it('names the queues, the most waiting first when asked so, and who asks', async () => {
    const { out } = await run(['queues', '--sort', 'asked']);
    const lines = out.split('\n');
    expect(lines[0]).to.match(
      /^queue +waiting +delayed +leased +oldest +in\/s +out\/s +asked +by$/,
    );
    // How much of the name there is room for depends on the words for its age.
    expect(lines[1]).to.match(/^ten.*…/);
    expect(lines[2]).to.match(/^mail +1 +0 +1 .* ago +.*…/);
    expect(lines[3]).to.match(/^late +1 +1 +0 +- .* never$/);
    expect(out).to.match(/known only since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC/);
    expect((await run(['queues', '--match', 'nothing'])).out).to.include('no queues match');
    expect((await run(['queues', '--limit', '1'])).out).to.include('2 more queues');
    await run(['queues', '--sort', 'colour'], 2);
    await run(['queues', '--limit', '0'], 2);
  });

  it('gives the whole names as JSON', async () => {
    const queues = JSON.parse((await run(['queues', '--json'])).out) as { queues: Fields[] };
    const names = queues.queues.map(({ queue }) => queue);
    expect(names).to.deep.equal(['late', 'mail', LONG]);
    const workers = JSON.parse((await run(['workers', '--json'])).out) as { workers: Fields[] };
    expect(workers.workers[0]).to.include({ worker_id: WORKER, capacity: 3, active_leases: 1 });
  });

  it('names the workers', async () => {
    const { out } = await run(['workers', '--sort', 'held']);
    expect(out).to.match(/^worker +leases +capacity +last request +lease ends +holds$/m);
    expect(out).to.match(/…\S* +1 +3 +\S+ ago +in \S+ +L\d+$/m);
  });

  it('lists the newest tasks first, and young ones only', async () => {
    const ids = async (...args: string[]): Promise<unknown[]> =>
      (await run(['tasks', '--json', ...args])).out
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as Fields)['task_id']);
    const oldest = await ids();
    expect(oldest).to.have.length(4);
    expect(await ids('--newest')).to.deep.equal([...oldest].reverse());
    expect(await ids('--newest', '--limit', '2')).to.deep.equal(oldest.slice(-2).reverse());
    expect(await ids('--newest', '--after', String(oldest[2]))).to.deep.equal([
      oldest[1],
      oldest[0],
    ]);
    expect(await ids('--since', '2h')).to.deep.equal(oldest);
    expect((await run(['tasks', '--since', '1ms', '--json'])).out).to.equal('');
    await run(['tasks', '--since', 'yesterday'], 2);
    const { out } = await run(['tasks', '--queue', 'late']);
    expect(out)
      .to.match(/eligible/)
      .and.to.match(/ (\d\d-\d\d )?\d\d:\d\d:\d\d$/m);
  });

  it('fits 80 columns in every command', async () => {
    // A story keeps names whole: one that is longer than a line is left to the terminal to wrap.
    const [task] = (await stage.call('GET', '/v1/tasks?queue=late')).body['tasks'] as Fields[];
    const commands = [
      ['stats'],
      ['queues'],
      ['workers'],
      ['tasks'],
      ['explain', String(task?.['task_id'])],
    ];
    for (const words of commands) {
      const { out } = await run(words);
      for (const line of out.split('\n')) expect(widthOf(line), line).to.be.at.most(80);
    }
    expect((await run(['queues'])).err).to.include('What … stands for');
    // Without COLUMNS, what a program reads is whole.
    const { out, err } = await command(['queues'], { env: { LEASEHOLD_URL: stage.url } });
    expect(out).to.include(LONG).and.to.include(WORKER).and.not.to.include('…');
    expect(err).to.equal('');
  });
});
