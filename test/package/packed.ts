// Owns the package as npm packs it, unpacked once for all tests that ask, and projects in which it
// is installed without the network: what it depends on is linked from this folder.

import { execFile } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { skip } from '../support/skip.ts';

const execute = promisify(execFile);

export interface Packed {
  readonly tarball: string;
  /** The unpacked package. */
  readonly dir: string;
  /** Its files, with forward slashes. */
  readonly files: readonly string[];
}

export interface Manifest {
  readonly bin: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly overrides?: unknown;
}

const temporary: string[] = [];
let packing: Promise<Packed> | undefined;

/** A folder that goes when this process ends. */
export function temporaryFolder(): string {
  if (temporary.length === 0) {
    process.once('exit', () => {
      for (const dir of temporary) fs.rmSync(dir, { recursive: true, force: true });
    });
  }
  // The true path, or what npm says of a folder could not be compared.
  const dir = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'leasehold-package-')));
  temporary.push(dir);
  return dir;
}

/** What `npm pack` makes of dist/ as it is. Nothing is built: the tests run from there. */
export function packed(): Promise<Packed> {
  packing ??= pack('.');
  return packing;
}

export async function pack(folder: string): Promise<Packed> {
  const dir = temporaryFolder();
  const { stdout } = await npm(process.cwd(), [
    ...['pack', path.resolve(folder)],
    ...['--ignore-scripts', '--json', '--pack-destination', dir],
  ]);
  const [about] = JSON.parse(stdout) as { filename: string; files: { path: string }[] }[];
  if (about === undefined) throw new Error(`npm packed nothing: ${stdout}`);
  const tarball = path.join(dir, about.filename);
  await execute('tar', ['-xzf', about.filename], { cwd: dir });
  return { tarball, dir: path.join(dir, 'package'), files: about.files.map((file) => file.path) };
}

export const manifestOf = ({ dir }: Packed): Manifest =>
  JSON.parse(fs.readFileSync(path.join(dir, 'package.json'), 'utf8')) as Manifest;

export function emptyProject(): string {
  const project = temporaryFolder();
  fs.writeFileSync(path.join(project, 'package.json'), '{"name":"project","version":"1.0.0"}');
  return project;
}

/** A project of a user. @param packages are installed in it, by their names */
export function projectWith(packages: Readonly<Record<string, Packed>>): string {
  const project = emptyProject();
  for (const [name, one] of Object.entries(packages)) place(project, name, one);
  return project;
}

/** Puts a package into a project, as it is, and what it depends on, unless that is there. */
export function place(project: string, name: string, one: Packed): void {
  fs.cpSync(one.dir, path.join(project, 'node_modules', name), { recursive: true });
  for (const needed of Object.keys(manifestOf(one).dependencies)) link(project, needed);
}

/** Links a package of ours into a project, unless it is there. */
export function link(project: string, name: string): void {
  const at = path.join(project, 'node_modules', name);
  if (fs.existsSync(at)) return;
  fs.mkdirSync(path.dirname(at), { recursive: true });
  fs.symlinkSync(path.resolve('node_modules', name), at);
}

/** A copy of the sources as a clone has them: neither installed nor built. */
export function unbuiltClone(): string {
  const clone = temporaryFolder();
  const left = new Set(['node_modules', 'dist', '.git', 'coverage', 'results']);
  fs.cpSync('.', clone, {
    recursive: true,
    filter: (from) => !left.has(path.basename(from)) && !path.basename(from).startsWith('dist.'),
  });
  return clone;
}

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs npm, as from a shell of its own: this run's npm must not speak into it. */
export const npm = (cwd: string, args: readonly string[]): Promise<Ran> =>
  run(cwd, 'npm', [...args, '--no-audit', '--no-fund']);

export async function run(cwd: string, command: string, args: readonly string[]): Promise<Ran> {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) =>
        !/^(npm_(?!config_(registry|cache)$)|NODE_OPTIONS|INIT_CWD|LEASEHOLD_)/.test(name),
    ),
  );
  const shell = process.platform === 'win32' && command === 'npm';
  const options = { cwd, env, shell, maxBuffer: 1 << 26 };
  try {
    return { code: 0, ...(await execute(command, args, options)) };
  } catch (error) {
    const { code, stdout, stderr } = error as Ran;
    return { code: code, stdout, stderr };
  }
}

/** What is resolved anew needs the registry; without one the test says so and is left out. */
export async function needRegistry(test: Mocha.Context): Promise<void> {
  const { code } = await npm(process.cwd(), ['view', 'picocolors', 'version', '--fetch-retries=0']);
  if (code !== 0) skip(test, 'the registry of npm cannot be reached');
}
