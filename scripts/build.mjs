// Builds dist/ from nothing, beside the one that is there, and then puts it in its place: a deleted
// source leaves no compiled ghost behind, and what runs from dist/ meanwhile (a coordinator, while
// the demo is started beside it) never finds it empty. When no source has changed it does nothing.
// `BUILD_DIR` builds elsewhere.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SOURCES = ['src', 'actors', 'test', 'bench', 'scripts/build.mjs', 'tsconfig.json'];
/** What is made from the build itself: the validators of the forms, then the manual page. */
const MAKERS = ['validators', 'man'].map((name) => join('scripts', `${name}.mjs`));
const UNFINISHED = '.building-';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const outDir = process.env.BUILD_DIR ?? 'dist';
const sources = [...SOURCES, ...MAKERS, 'package-lock.json'];
const stamp = stampOf(sources.filter((path) => fs.existsSync(path)));
const stampFile = join(outDir, '.sources');
if (!fs.existsSync(stampFile) || fs.readFileSync(stampFile, 'utf8') !== stamp) build();

function build() {
  // Building takes a while, and npm shows nothing meanwhile.
  console.error('building …');
  sweep();
  const fresh = `${outDir}${UNFINISHED}${process.pid}`;
  const tsc = join('node_modules', 'typescript', 'bin', 'tsc');
  try {
    execFileSync(process.execPath, [tsc, '-p', '.', '--outDir', fresh], { stdio: 'inherit' });
    for (const maker of MAKERS.filter((path) => fs.existsSync(path))) {
      execFileSync(process.execPath, [maker, fresh], { stdio: 'inherit' });
    }
  } catch {
    remove(fresh);
    process.exit(1);
  }
  const bin = join(fresh, 'src', 'cli', 'main.js');
  if (fs.existsSync(bin)) fs.chmodSync(bin, 0o755);
  fs.writeFileSync(join(fresh, '.sources'), stamp);
  replace(fresh);
}

/** Another build may do the same at this moment: the last one stays. */
function replace(fresh) {
  for (let tries = 1; ; tries += 1) {
    const old = `${fresh}-old`;
    try {
      if (fs.existsSync(outDir)) fs.renameSync(outDir, old);
      fs.renameSync(fresh, outDir);
      remove(old);
      return;
    } catch (error) {
      remove(old);
      if (tries === 10) throw error;
    }
  }
}

/** What builds have left that were killed. */
function sweep() {
  for (const name of fs.readdirSync('.')) {
    const pid = name.startsWith(`${outDir}${UNFINISHED}`) && /(\d+)(-old)?$/.exec(name)?.[1];
    if (pid && !isAlive(Number(pid))) remove(name);
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function remove(folder) {
  fs.rmSync(folder, { recursive: true, force: true });
}

/** Changes with each source that comes, goes, or is written. */
function stampOf(paths) {
  const hash = createHash('sha256');
  const add = (path) => {
    const stat = fs.statSync(path);
    if (!stat.isDirectory()) {
      hash.update(`${path} ${stat.mtimeMs} ${stat.size}\n`);
      return;
    }
    for (const name of fs.readdirSync(path).sort()) {
      if (name !== 'node_modules' && name !== 'results') add(join(path, name));
    }
  };
  for (const path of paths) add(path);
  return hash.digest('hex');
}
