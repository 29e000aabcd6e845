// What commands say of a data directory that they may not read: that they may not, at whichever
// level it is refused. It must never pass for a directory without a log, or for a damaged one.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { openLmdbLog } from '../../src/log/lmdb-log.ts';
import { EXECUTABLE } from '../../src/play/demo/processes.ts';
import { started } from '../log/records.ts';
import { isRoot } from '../reliability/machine.ts';
import type { Ran } from '../support/command.ts';

const EACH = fileURLToPath(new URL('each-command.js', import.meta.url));
/** Nobody: the superuser may read everything. */
const AS_OTHER = isRoot ? { uid: 65_534, gid: 65_534 } : {};

describe('a data directory that may not be read', function () {
  this.timeout(180_000);
  let dir: string;
  let dataDir: string;

  beforeEach(async () => {
    dir = fs.mkdtempSync(path.join(os.tmpdir(), 'leasehold-permission-'));
    fs.chmodSync(dir, 0o777);
    dataDir = path.join(dir, 'data');
    const log = await openLmdbLog({ dataDir });
    await log.start(started(1));
    await log.close();
  });
  afterEach(() => {
    fs.chmodSync(dataDir, 0o700);
    fs.rmSync(dir, { recursive: true });
  });

  const copy = (): string => path.join(dir, 'copy');
  const segment = (): string => {
    const logDir = path.join(dataDir, 'log');
    return path.join(logDir, String(fs.readdirSync(logDir)[0]));
  };
  const env = { ...process.env, NODE_OPTIONS: '' };
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [EXECUTABLE, ...args], { ...AS_OTHER, encoding: 'utf8', env });
  /** One process of the other user for all of them. */
  const runEach = (commands: readonly string[][]): Ran[] => {
    const words = [EACH, ...commands.map((args) => JSON.stringify(args))];
    const ran = spawnSync(process.execPath, words, { ...AS_OTHER, encoding: 'utf8', env });
    expect(ran.status, ran.stderr).equal(0);
    return JSON.parse(ran.stdout) as Ran[];
  };

  for (const [what, refuse] of [
    ['the directory', () => fs.chmodSync(dataDir, 0o000)],
    [
      'its log',
      () => {
        fs.chmodSync(dataDir, 0o755);
        fs.chmodSync(path.join(dataDir, 'log'), 0o000);
      },
    ],
    [
      'a segment',
      () => {
        for (const one of [dataDir, path.join(dataDir, 'log')]) fs.chmodSync(one, 0o755);
        fs.chmodSync(segment(), 0o000);
      },
    ],
    [
      'the file of a segment',
      () => {
        const all = [dataDir, path.join(dataDir, 'log'), segment()];
        fs.chmodSync(path.join(segment(), 'data.mdb'), 0o000);
        for (const one of all) fs.chmodSync(one, 0o755);
      },
    ],
  ] as const) {
    it(`because of ${what} is told as that by every command`, () => {
      const inside = segment();
      refuse();
      const commands = [['verify'], ['log'], ['state'], ['explain', 'T2'], ['backup', copy()]];
      const ran = runEach(commands.map((args) => [...args, '--data-dir', dataDir]));
      for (const [i, { code, err }] of ran.entries()) {
        const name = commands[i]?.[0];
        expect(code, `${name}: ${err}`).equal(1);
        expect(err, name).match(/^leasehold: LOG_(DIRECTORY|IO): .*no permission \(EACCES\)/);
        expect(err, name).not.match(/there is no log|LOG_CORRUPT|\n {4}at /);
      }
      expect(ran).length(commands.length);
      expect(fs.existsSync(copy()), 'nothing is made').equal(false);
      fs.chmodSync(path.join(dataDir), 0o755);
      fs.chmodSync(path.join(dataDir, 'log'), 0o755);
      fs.chmodSync(inside, 0o755);
    });
  }

  it('is told by a start as well, which is no reason to say that there is none', () => {
    fs.chmodSync(dataDir, 0o000);
    const args = ['serve', '--data-dir', dataDir, '--http-port', '0', '--socket-port', '0'];
    const { status, stderr } = run(...args);
    expect(status).equal(1);
    expect(stderr).include('LOG_DIRECTORY').and.include('this user may not write there');
  });

  it('and one that is not there are told apart', () => {
    const { status, stderr } = run('verify', '--data-dir', path.join(dir, 'nowhere'));
    expect([status, stderr]).deep.equal([
      1,
      `leasehold: LOG_DIRECTORY: there is no log in ${path.join(dir, 'nowhere')}\n`,
    ]);
  });

  for (const command of [['verify'], ['state'], ['backup', 'copy']]) {
    it(`where none was named: ${command[0]} says how to name one`, () => {
      const words = [EXECUTABLE, ...command];
      const { stderr } = spawnSync(process.execPath, words, { cwd: dir, encoding: 'utf8', env });
      expect(stderr).include('there is no log in').and.include('say with --data-dir where it is');
      expect(stderr.includes('--from URL')).equal(command[0] === 'backup');
    });
  }
});
