// What commands say of words that they do not know, or that mean something else than they seem to.

import { expect } from 'chai';
import { fileLimit } from '../../src/cli/doctor/judge-server.ts';
import { isRead } from '../../src/cli/trouble.ts';
import { transitionsText } from '../../src/play/transitions-text.ts';
import { scriptedServer } from '../client/scripted-server.ts';
import { command } from '../support/command.ts';

/** Nothing listens there. */
const NOWHERE = 'http://127.0.0.1:1';

describe('a command', () => {
  const said = async (...args: string[]): Promise<[code: number | null, err: string]> => {
    const { code, err } = await command(args, { env: { LEASEHOLD_URL: NOWHERE } });
    return [code, err];
  };

  it('takes no bare number below 100 for a time that a person waits', async () => {
    for (const args of [
      ['submit', 'x', '--wait', '3'],
      ['tasks', '--timeout', '3'],
      ['tasks', '--since', '3'],
      ['top', '--interval', '3'],
    ]) {
      const flag = args.at(-2);
      expect(await said(...args)).deep.equal([2, `${flag}: "3" would be 3 ms; write 3s, or 3ms\n`]);
    }
  });

  it('names the option that is meant by one of another program', async () => {
    const [code, err] = await said('serve', '--port', '5400');
    expect([code, err.includes('--http-port for HTTP')]).deep.equal([2, true]);
    expect((await said('serve', '--address=0.0.0.0'))[1]).include('--http-host');
    expect((await said('fail', 'L86', '--reason', 'bad'))[1]).include('the reason is an argument');
    expect((await said('serve', '--nonsense'))[1]).not.include('--http-port for HTTP');
  });

  it('takes the name of a state in lower case, and no name that is none', async () => {
    expect((await said('tasks', '--state', 'waiting'))[0]).equal(3);
    expect((await said('redrive', '--state', 'Failed', '--dry-run'))[0]).equal(3);
    const [code, err] = await said('tasks', '--state', 'gone');
    expect([code, err.includes('WAITING')]).deep.equal([2, true]);
  });

  it('says in the words of the others that nothing listens for a worker', async () => {
    const [code, err] = await said('work', '--exec', 'true');
    expect([code, err]).deep.equal([
      3,
      `no answer from ${NOWHERE}: nothing listens there (ECONNREFUSED)\n`,
    ]);
  });

  it('wonders what became of a request only where that changes something', () => {
    const reads = ['task', 'tasks', 'log', 'explain', 'stats', 'queues', 'workers', 'config'];
    expect(reads.every(isRead)).equal(true);
    const changes = [
      'submit',
      'lease',
      'heartbeat',
      'complete',
      'fail',
      'kill',
      'redrive',
      'batch',
    ];
    expect(changes.some(isRead)).equal(false);
  });
});

describe('a lease where a task is asked for', () => {
  it('is told with its task, and without a server with the way to it', async () => {
    const server = await scriptedServer('http', () => ({ records: [] }));
    const granted = { seq: 18, type: 'LeaseGranted', lease_id: 'L18', task_id: 'T17' };
    // A page of the log is a record a line.
    server.script = () => granted;
    for (const name of ['task', 'explain']) {
      const env = { LEASEHOLD_URL: server.url };
      const { code, err } = await command([name, 'L18'], { env });
      expect([code, err]).deep.equal([
        2,
        'L18 is a lease of T17, and a task is asked for: give T17\n',
      ]);
      const alone = await command([name, 'L18'], { env: { LEASEHOLD_URL: NOWHERE } });
      expect([alone.code, alone.err.includes('leasehold log --from 18')]).deep.equal([2, true]);
    }
    await server.close();
  });
});

describe('what doctor says', () => {
  it('of the file descriptors: how many are open, and how many may be', () => {
    expect(fileLimit(20_000, 52).figure).match(/^52 are open, 20000 may be;/);
    expect(fileLimit(20_000).figure).match(/^20000 may be open;/);
  });
});

describe('the transitions on a terminal', () => {
  it('begin with the letters that explain gives to them', () => {
    const lines = transitionsText().split('\n');
    expect(lines[0]).match(/^a {2}\(new\) +TaskCreated/);
    expect(lines.find((line) => line.includes('LeaseExpired'))).match(/^f /);
  });
});
