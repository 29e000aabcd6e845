// Builds the clone in which it stands when npm installs or packs that clone: by `npm ci`, or by
// `npm install` with a path or the address of a Git repository. What is installed then runs, or the
// installation fails.
import { execFileSync, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fs.realpathSync(fileURLToPath(new URL('..', import.meta.url)));
const hasCompiler = () => fs.existsSync(join(root, 'node_modules', 'typescript'));

if (hasCompiler()) {
  build();
} else if (isOwnInstall()) {
  // `npm ci --omit=dev`, in an image that gets its dist/ from elsewhere, say.
  console.error('leasehold is not built here: without development packages there is no compiler');
} else {
  installOwnPackages();
  build();
}

function build() {
  const { status } = spawnSync(process.execPath, [join(root, 'scripts', 'build.mjs')], {
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(1);
}

/** Whether npm installs the packages of this folder, rather than this folder into a project. */
function isOwnInstall() {
  const { npm_config_global: isGlobal, npm_config_local_prefix: project } = process.env;
  return isGlobal !== 'true' && project !== undefined && isRoot(project);
}

function isRoot(folder) {
  return fs.existsSync(folder) && fs.realpathSync(folder) === root;
}

/** npm links a folder that it is given, and leaves it to the folder to have its packages. */
function installOwnPackages() {
  console.error(`leasehold: installing the packages of ${root} …`);
  const how = ['--include=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--global=false'];
  const call = ['ci', '--prefix', root, ...how];
  const npm = process.env.npm_execpath ?? '';
  try {
    if (/npm-cli\.[cm]?js$/.test(npm)) {
      execFileSync(process.execPath, [npm, ...call], { cwd: root, stdio: 'inherit' });
    } else {
      execFileSync('npm', call, {
        cwd: root,
        stdio: 'inherit',
        shell: process.platform === 'win32',
      });
    }
  } catch {
    console.error(`leasehold: cannot be built; run \`npm ci\` in ${root}, then install it again`);
    process.exit(1);
  }
}
