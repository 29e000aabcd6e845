// Every command that asks a server, over each kind of URL: it prints the same and ends alike. At
// full size each is a process of its own; in a short round those over one kind of URL are, on some
// days, and all others run in this process.

import path from 'node:path';
import { expect } from 'chai';
import { EXECUTABLE, Process } from '../../src/play/demo/processes.ts';
import { command, type Ran } from '../support/command.ts';
import { cleanEnv, type Fields } from '../support/server.ts';
import { inTurn } from '../support/tier.ts';
import { Stage } from './support.ts';

const KINDS = ['http', 'tcp', 'unix'] as const;
const AS_PROCESSES: readonly string[] = inTurn(KINDS);

describe('every command', () => {
  let stage: Stage;
  let urls: Record<string, string>;
  before(async () => {
    stage = await Stage.open();
    const file = path.join(stage.dir, 's.sock');
    // Where each command is a process, a busy machine takes long from a lease to its report.
    const knobs = ['--backoff-ms', '0', '--lease-duration-ms', '600000'];
    const server = await stage.serve([...knobs, '--socket-path', file]).ready();
    const tcp = /"(127\.0\.0\.1:\d+)"\]/.exec(server.out)?.[1];
    urls = { http: stage.url, tcp: `tcp://${tcp}`, unix: `unix:${file}` };
  });
  after(() => stage.close());

  const run = async (kind: string, status: number, args: string[], stdin = ''): Promise<Ran> => {
    const words = [...args, '--url', urls[kind] as string];
    const isProcess = AS_PROCESSES.includes(kind);
    const ran = await (isProcess ? stage.run(words, stdin) : command(words, { stdin }));
    expect(ran.code, `${kind} ${args.join(' ')}: ${ran.out}${ran.err}`).equal(status);
    return ran;
  };
  const json = ({ out }: Ran): Fields => JSON.parse(out) as Fields;

  for (const kind of KINDS) {
    it(`does its work over ${kind}`, async () => {
      const queue = `q-${kind}`;
      const task = String(
        json(await run(kind, 0, ['submit', 'p', '--queue', queue, '--json'])).task_id,
      );
      const asked = ['lease', '--worker', 'w', '--queue', queue, '--wait', '5s', '--json'];
      const [lease] = json(await run(kind, 0, asked))['leases'] as Fields[];
      const held = String(lease?.['lease_id']);
      expect((await run(kind, 0, ['heartbeat', held])).out).match(/^OK L/);
      expect((await run(kind, 0, ['complete', held, '--result', 'r'])).out).match(/^COMMITTED T/);
      expect((await run(kind, 1, ['fail', held, 'late'])).err).include('duplicate_report');
      expect(json(await run(kind, 0, ['task', task, '--json']))).include({ state: 'COMPLETED' });
      expect((await run(kind, 0, ['tasks', '--queue', queue])).out).include(task);
      expect((await run(kind, 0, ['stats'])).out).include('COMPLETED');
      expect((await run(kind, 1, ['task', 'T999999'])).err).include('unknown_task');
      expect((await run(kind, 2, ['tasks', '--queue', 'no such'])).err).include('malformed');
      const lines = await run(kind, 0, ['submit', '--lines', '--queue', queue], 'a\nb\n');
      expect(lines.out).include('2 tasks submitted');
      expect((await run(kind, 0, ['kill', '--queue', queue])).out).match(/(DEAD[^]*){2}/);
      expect((await run(kind, 0, ['redrive', '--queue', queue])).out).match(/(WAITING[^]*){2}/);
      const records = await run(kind, 0, ['log', '--task', task, '--json']);
      expect(records.out.trim().split('\n')).length(4);
    });
  }

  it('prints the same, whichever URL', async () => {
    const task = String(json(await run('http', 0, ['submit', 'same', '--json']))['task_id']);
    const stats = ['stats', '--json'];
    for (const args of [
      ['task', task],
      ['task', task, '--json'],
      ['explain', task, '--at', '3'],
      ['explain', task, '--at', task.slice(1)],
      ['explain', task, '--at', task.slice(1), '--json'],
      ['explain', task, '--at', task.slice(1), '--svg', '-'],
      ['log', '--from', '1', '--limit', '1000', '--json'],
      ['log', '--tail', '3'],
      ['log', '--type', 'TaskDead'],
      ['tasks', '--json'],
    ]) {
      const [http, ...others] = await Promise.all(
        Object.values(urls).map((url) => command([...args, '--url', url])),
      );
      for (const other of others) expect(other, args.join(' ')).deep.equal(http);
    }
    const names = async (kind: string): Promise<string[]> =>
      Object.keys(json(await run(kind, 0, stats)));
    expect(await names('tcp')).deep.equal(await names('http'));
  });

  for (const kind of inTurn(['tcp', 'unix'])) {
    it(`follows the log over ${kind}`, async () => {
      const args = [EXECUTABLE, 'log', '--follow', '--queue', `f-${kind}`, '--url'];
      const follower = new Process([...args, urls[kind] as string], cleanEnv());
      try {
        const ids: string[] = [];
        while (ids.length < 3 || !ids.slice(-2).every((id) => follower.out.includes(id))) {
          ids.push(String((await stage.submit({ queue: `f-${kind}` })).body['task_id']));
          expect(follower.over, follower.err).equal(undefined);
        }
        const seen = [...follower.out.matchAll(/^(\d+) /gm)].map(([, seq]) => Number(seq));
        expect(seen).deep.equal([...new Set(seen)].toSorted((a, b) => a - b));
      } finally {
        await follower.destroy();
      }
    });
  }

  it('ends with 3 where nothing listens, over each of them', async () => {
    for (const url of ['tcp://127.0.0.1:1', `unix:${path.join(stage.dir, 'none.sock')}`]) {
      const { code, err } = await command(['stats', '--url', url]);
      expect([code, err.includes(url)], err).deep.equal([3, true]);
    }
    const both = `http://127.0.0.1:1,${urls['http']}`;
    expect((await command(['stats', '--url', both])).code, 'the second of two').equal(0);
  });
});

describe('explain --at', () => {
  let stage: Stage;
  before(async () => {
    stage = await Stage.open();
    await stage.serve(['--backoff-ms', '0', '--lease-duration-ms', '3000']).ready();
  });
  after(() => stage.close());

  it('tells with a server what it tells without one, after each record', async () => {
    const task = String((await stage.submit()).body['task_id']);
    const lease = async (worker_id: string): Promise<Fields> => {
      const asked = { worker_id, wait_ms: 30_000 };
      return (
        (await stage.call('POST', '/v1/leases', asked)).body['leases'] as Fields[]
      )[0] as Fields;
    };
    const first = await lease('a');
    const second = await lease('b');
    for (const { lease_id, task_id } of [first, second]) {
      await stage.call('POST', `/v1/leases/${lease_id}/complete`, { task_id });
    }
    await stage.submit();
    const last = (await stage.records()).length;
    const env = { LEASEHOLD_URL: stage.url };
    for (let at = 1; at <= last; at += 1) {
      for (const form of [[], ['--json']]) {
        const args = ['explain', task, '--at', String(at), ...form];
        const asked = await command(args, { env });
        const read = await command([...args, '--data-dir', stage.dataDir]);
        expect(asked.code, asked.err).equal(read.code);
        if (asked.code === 0) expect(asked.out).equal(read.out);
        else expect([at, asked.err.includes('unknown_task')]).deep.equal([1, true]);
      }
    }
    expect((await command(['explain', task, '--at', '3'], { env })).out).include('LEASED');
    const now = await stage.run(['explain', task]);
    expect(now.out).include('COMPLETED');
  });

  it('refuses a record that the log does not have, and one that it never had', async () => {
    const beyond = await stage.call('GET', '/v1/tasks/T2/explain?at=999999');
    expect([beyond.status, beyond.body['reason'], beyond.body['field']]).deep.equal([
      400,
      'malformed',
      'at',
    ]);
    for (const at of ['0', '-1', '1.5', 'x', '']) {
      const { status, body } = await stage.call('GET', `/v1/tasks/T2/explain?at=${at}`);
      expect([status, body['reason']], at).deep.equal([400, 'malformed']);
    }
    const { status, text } = await stage.call('GET', '/v1/tasks/T2/explain?at=2&format=text');
    expect([status, text.startsWith('T2 ')]).deep.equal([200, true]);
    const never = await stage.call('GET', '/v1/tasks/T999/explain?at=2');
    expect([never.status, never.body['reason'], never.body['detail']]).deep.equal([
      404,
      'unknown_task',
      'no task T999 is remembered after record 2',
    ]);
  });
});
