// Owns a PostgreSQL for one test file: on loopback, in a directory of its own, as a user that is
// not root. What is asked of it goes through psql.

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ownPort } from '../support/own-port.ts';
import { skip } from '../support/skip.ts';

const INSTALLED = '/usr/lib/postgresql';
const READY_MS = 60_000;

interface User {
  readonly uid?: number;
  readonly gid?: number;
}

export class Postgres {
  readonly #bin: string;
  readonly #user: User;
  readonly #dir = fs.mkdtempSync(path.join(os.tmpdir(), 'leasehold-postgres-'));
  #port = 0;
  #server: ReturnType<typeof spawn> | undefined;

  private constructor(bin: string, user: User) {
    this.#bin = bin;
    this.#user = user;
  }

  /** Skips the test where there is no PostgreSQL, or no user that may run it. */
  static async start(test: Mocha.Context): Promise<Postgres> {
    const [version] = fs.existsSync(INSTALLED)
      ? fs.readdirSync(INSTALLED).toSorted().toReversed()
      : [];
    const bin = path.join(INSTALLED, version ?? '', 'bin');
    if (!fs.existsSync(path.join(bin, 'postgres'))) skip(test, 'PostgreSQL is not installed');
    const user = unprivilegedUser();
    if (user === undefined) skip(test, 'there is no user postgres, and root must not run it');
    const postgres = new Postgres(bin, user ?? {});
    await postgres.#start();
    return postgres;
  }

  get url(): string {
    return `postgres://postgres@127.0.0.1:${this.#port}/postgres`;
  }

  /** @returns the rows, a list of fields each */
  query(sql: string): string[][] {
    const how = ['-v', 'ON_ERROR_STOP=1', '-qAt', '-F', '\t', this.url];
    const out = execFileSync(path.join(this.#bin, 'psql'), how, { input: sql, encoding: 'utf8' });
    return out
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.split('\t'));
  }

  /** Runs statements in a session that stays open. @returns what ends the session */
  hold(sql: string): () => Promise<void> {
    const session = spawn(path.join(this.#bin, 'psql'), ['-q', this.url], {
      stdio: ['pipe', 'ignore', 'inherit'],
    });
    session.stdin.write(`${sql}\n`);
    return async () => {
      const closed = once(session, 'close');
      session.stdin.end();
      await closed;
    };
  }

  async stop(): Promise<void> {
    if (this.#server !== undefined) {
      const closed = once(this.#server, 'close');
      this.#server.kill('SIGINT'); // Fast shutdown: sessions are ended.
      await closed;
    }
    process.off('exit', this.#leave);
    this.#leave();
  }

  readonly #leave = (): void => {
    this.#server?.kill('SIGQUIT');
    fs.rmSync(this.#dir, { recursive: true, force: true });
  };

  async #start(): Promise<void> {
    const { uid, gid } = this.#user;
    if (uid !== undefined && gid !== undefined) fs.chownSync(this.#dir, uid, gid);
    const data = path.join(this.#dir, 'data');
    const options = { ...this.#user, cwd: this.#dir };
    const how = ['-A', 'trust', '-U', 'postgres', '--no-locale', '-E', 'UTF8', '--no-sync'];
    execFileSync(path.join(this.#bin, 'initdb'), ['-D', data, ...how], {
      ...options,
      stdio: 'ignore',
    });
    this.#port = await ownPort();
    const args = ['-D', data, '-k', this.#dir, '-p', `${this.#port}`];
    this.#server = spawn(
      path.join(this.#bin, 'postgres'),
      [...args, '-c', 'listen_addresses=127.0.0.1', '-c', 'fsync=off'],
      { ...options, stdio: 'ignore' },
    );
    // Another hook that fails must not leave it behind.
    process.once('exit', this.#leave);
    const isReady = path.join(this.#bin, 'pg_isready');
    const end = performance.now() + READY_MS;
    while (spawnSync(isReady, ['-q', '-h', '127.0.0.1', '-p', `${this.#port}`]).status !== 0) {
      if (performance.now() > end) throw new Error('PostgreSQL does not answer');
      await pause(50);
    }
  }
}

/** @returns undefined when there is none: PostgreSQL refuses to run as root */
function unprivilegedUser(): User | undefined {
  if (process.getuid?.() !== 0) return {};
  const number = (flag: string): number =>
    Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout.trim() || Number.NaN);
  const [uid, gid] = [number('-u'), number('-g')];
  return Number.isInteger(uid) && Number.isInteger(gid) ? { uid, gid } : undefined;
}
