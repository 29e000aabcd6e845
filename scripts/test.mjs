// Runs a tier of the tests: `quick` is whatever needs no process of its own.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

/** Folders and files in which the real executable is started, or a proof is played. */
const WITH_PROCESSES = [
  'e2e/',
  'examples/',
  'reliability/',
  'simulator/',
  'actors/system',
  'cli/offline',
  'cli/permission',
  'cli/work',
  'client/worker',
  'house/build',
  'log/lmdb-crash',
  'package/',
  'rehearse/rehearse',
];

const all = readdirSync('dist/test', { recursive: true })
  .filter((name) => name.endsWith('.test.js'))
  .sort();
const quick = all.filter((name) => !WITH_PROCESSES.some((part) => name.startsWith(part)));

const [tier, ...args] = process.argv.slice(2);
if (tier !== 'quick') throw new Error(`there is no tier ${tier}`);
const files = quick.map((name) => join('dist', 'test', name));
const mocha = join('node_modules', 'mocha', 'bin', 'mocha.js');
const words = [mocha, '--parallel', '--jobs', '2', ...args, ...files];
const { status } = spawnSync(process.execPath, words, { stdio: 'inherit' });
process.exitCode = status ?? 1;
