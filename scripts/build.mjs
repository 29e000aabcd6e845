// Builds dist/ from nothing each time: a deleted source must not leave a compiled ghost behind.
// `BUILD_DIR` builds elsewhere, so that two builds of one checkout do not disturb each other.
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const outDir = process.env.BUILD_DIR ?? 'dist';
const tsc = fileURLToPath(new URL('../node_modules/typescript/bin/tsc', import.meta.url));

rmSync(new URL(`../${outDir}`, import.meta.url), { recursive: true, force: true });
try {
  execFileSync(process.execPath, [tsc, '-p', '.', '--outDir', outDir], {
    cwd: root,
    stdio: 'inherit',
  });
} catch {
  process.exit(1);
}
const bin = new URL(`../${outDir}/src/cli/main.js`, import.meta.url);
if (existsSync(bin)) chmodSync(bin, 0o755);
