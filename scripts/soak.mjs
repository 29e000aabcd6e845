// Plays one proof round after round, each with a fresh seed, until it fails or the time is over:
// `npm run soak -- NAME`. SEED says where it begins, ROUNDS and MINUTES for how long it goes on;
// what stands behind a name below is only their default. Without a name it lists them.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

const proof = (file, title, env = {}) => ({
  words: ['node_modules/mocha/bin/mocha.js', `dist/test/${file}.test.js`, '-g', title],
  env: { SOAK: '1', ...env },
});
const { CYCLES = '500', MINUTES = '10', SEED } = process.env;
const sim = ['--max-semi-space-size=64', 'dist/test/simulator/main.js', '--forever'];
const forMinutes = ['--minutes', MINUTES, ...(SEED ? ['--seed', SEED] : [])];

const SOAKS = {
  sim: { words: [...sim, ...forMinutes], env: {} },
  replicated: { words: [...sim, '--replicated', '--steps', '2000', ...forMinutes], env: {} },
  images: proof('reliability/crash-images', 'leave what'),
  flush: proof('reliability/flush-order', 'no byte'),
  calls: proof('reliability/every-call', 'loses nothing'),
  faults: proof('reliability/failing-device', 'invents'),
  crash: proof('e2e/crash', 'loses', { ROUNDS: String(Number(CYCLES) / 25), MINUTES: '600' }),
  power: proof('reliability/power-cut', 'is lost', { ROUNDS: '250', MINUTES: '60' }),
  full: proof('reliability/disk-full', 'under a load: reads'),
  damage: proof('reliability/damage', 'is refused'),
  linear: proof('reliability/linear', 'holds'),
  overload: proof('reliability/overload', 'at once', { FLOOD_MS: '60000' }),
  fuzz: proof('reliability/fuzz', 'lines and'),
  clock: proof('reliability/clock', 'no time goes', { ROUNDS: '50', MINUTES: '60' }),
  pauses: proof('reliability/pauses', 'larger token', { ROUNDS: '40', MINUTES: '60' }),
  cluster: proof('reliability/nodes', 'tell nothing', { MINUTES: '30' }),
  workers: proof('client/worker-faults', '', { LEASEHOLD_SOAK_TASKS: '20000' }),
  threads: proof('reliability/threads', 'turn'),
  mixed: proof('reliability/mixed', 'stays flat', { ROUNDS: '1', MINUTES: '30' }),
};

const [name] = process.argv.slice(2);
const soak = SOAKS[name];
if (soak === undefined) {
  console.log(`npm run soak -- NAME, one of: ${Object.keys(SOAKS).join(' ')}`);
  process.exitCode = name === undefined ? 0 : 2;
} else {
  const env = { ...soak.env, ...process.env };
  process.exitCode = spawnSync(process.execPath, soak.words, { env, stdio: 'inherit' }).status ?? 1;
}
