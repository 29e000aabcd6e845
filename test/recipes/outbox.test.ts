// The outbox of docs/RECIPES.md with a real PostgreSQL: a task exists exactly if its transaction
// was committed, also when the relay is killed between the submit and the mark.

import fs from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { Client } from '../../src/index.ts';
import { sharedServer } from '../client/real-server.ts';
import { inPlace } from '../support/server.ts';
import { inTurn } from '../support/tier.ts';
import { Postgres } from './postgres.ts';
import { endPrograms, example } from './program.ts';

describe('the outbox', function () {
  this.timeout(180_000);
  const server = sharedServer();
  let postgres: Postgres;
  let client: Client;
  let env: { DATABASE_URL: string; LEASEHOLD_URL: string };

  before(async function () {
    postgres = await Postgres.start(this);
    env = { DATABASE_URL: postgres.url, LEASEHOLD_URL: server.http };
    client = new Client({ url: server.http });
    postgres.query('CREATE TABLE orders (id serial PRIMARY KEY, customer text NOT NULL)');
    postgres.query("ALTER TABLE orders ADD CHECK (customer <> '')");
    postgres.query(fs.readFileSync('docs/examples/outbox.sql', 'utf8'));
  });
  beforeEach(() => {
    postgres.query('TRUNCATE outbox');
  });
  afterEach(endPrograms);
  after(async () => {
    client?.close();
    await postgres?.stop();
  });

  const cases: (readonly [title: string, play: () => Promise<void>])[] = [];
  const played = (title: string, play: () => Promise<void>): void => {
    cases.push([title, play]);
  };
  const order = (customer: string) => example('outbox-order.mjs', env, customer).ended();
  const unsent = (): number =>
    Number(postgres.query('SELECT count(*) FROM outbox WHERE sent_at IS NULL')[0]?.[0]);
  const requestIds = (): string[] =>
    postgres.query('SELECT request_id FROM outbox').map(([id]) => String(id));
  const tasksOf = async (requestId: string) => (await client.tasks({ requestId })).tasks;
  const until = async (holds: () => boolean | Promise<boolean>): Promise<void> => {
    while (!(await holds())) await pause(50);
  };

  played('has a task for each transaction that was committed, and for no other', async () => {
    expect(await order('ada@example.org')).to.equal(0);
    expect(await order('')).to.equal(1);
    expect(requestIds()).to.have.length(1);
    const relay = example('outbox-relay.mjs', env);
    await until(() => unsent() === 0);
    expect(await relay.end()).to.equal(0);
    const [[taskId] = []] = postgres.query('SELECT task_id FROM outbox');
    const task = await client.task(String(taskId));
    expect(task.queue).to.equal('mail');
    expect(task.json()).to.include({ to: 'ada@example.org' });
  });

  played('loses and doubles nothing when the relay is killed before it has marked', async () => {
    postgres.query(
      "INSERT INTO outbox (queue, payload) SELECT 'many', n FROM generate_series(1, 250) n",
    );
    // The relay can read and lock rows, and its UPDATE has to wait.
    const release = postgres.hold('BEGIN; LOCK TABLE outbox IN SHARE MODE;');
    const locked = "SELECT count(*) FROM pg_locks WHERE mode = 'ShareLock' AND granted";
    await until(() => Number(postgres.query(locked)[0]?.[0]) > 0);
    const killed = example('outbox-relay.mjs', env);
    const first = postgres.query('SELECT request_id FROM outbox ORDER BY id LIMIT 1')[0]?.[0];
    await until(async () => (await tasksOf(String(first))).length > 0);
    expect(await killed.end('SIGKILL')).to.equal(null);
    expect(killed.lines).to.deep.equal([]);
    await release();
    expect(unsent()).to.equal(250);

    const relay = example('outbox-relay.mjs', env);
    await until(() => unsent() === 0);
    expect(await relay.end()).to.equal(0);
    const again = relay.lines.filter((line) => line.endsWith(' already'));
    expect(again).to.have.length(100);
    const ids = postgres.query('SELECT DISTINCT task_id FROM outbox');
    expect(ids).to.have.length(250);
    expect((await client.tasks({ queue: 'many', limit: 1_000 })).tasks).to.have.length(250);
    for (const id of requestIds()) expect(await tasksOf(id)).to.have.length(1);
  });

  played('two relays share the work, and do each row once', async () => {
    postgres.query(
      "INSERT INTO outbox (queue, payload) SELECT 'two', n FROM generate_series(1, 400) n",
    );
    const relays = [example('outbox-relay.mjs', env), example('outbox-relay.mjs', env)];
    await until(() => unsent() === 0);
    await Promise.all(relays.map((relay) => relay.end()));
    expect(relays.flatMap(({ lines }) => lines)).to.have.length(400);
    expect(postgres.query('SELECT DISTINCT task_id FROM outbox')).to.have.length(400);
  });

  played('goes on behind a row that leasehold will never take', async () => {
    postgres.query("INSERT INTO outbox (queue, payload) VALUES ('no such name', 'a')");
    postgres.query("INSERT INTO outbox (queue, payload) VALUES ('good', 'b')");
    const relay = example('outbox-relay.mjs', env);
    await relay.line(/row \d+ is T/);
    await until(() => postgres.query('SELECT 1 FROM outbox WHERE refused IS NOT NULL').length > 0);
    await relay.end();
    const [[refused] = []] = postgres.query('SELECT refused FROM outbox ORDER BY id LIMIT 1');
    expect(refused).to.match(/^malformed: .*queue/);
  });

  played('waits while the coordinator is away', async () => {
    await inPlace(async (place) => {
      expect(await order('eve@example.org')).to.equal(0);
      const LEASEHOLD_URL = `http://127.0.0.1:${place.httpPort}`;
      const relay = example('outbox-relay.mjs', { ...env, LEASEHOLD_URL });
      await pause(300);
      expect(unsent()).to.equal(1);
      await place.serve().ready();
      await until(() => unsent() === 0);
      expect(await relay.end()).to.equal(0);
    });
  });

  for (const [title, play] of inTurn(cases, 2)) it(title, play);
});
