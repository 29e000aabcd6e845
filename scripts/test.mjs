// Runs a tier of the tests: `quick` is whatever needs no process of its own; `test` is all that
// there is, each proof in a short round; `proofs` is each proof at its full size, with all its
// controls. Some runs of mocha go on at the same time. It ends with the names of what failed, and
// with one line that counts all of them; a run that breaks off counts as a failure.
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Runs that go on at a time. Those that start processes mostly wait: for leases and for ends. */
const AT_A_TIME = { quick: 2, test: 4, proofs: 3 };
/** Files of one run: each run starts mocha once more. */
const TOGETHER = { quick: 12, withProcesses: 3 };
const DAY_MS = 86_400_000;

/** Files and folders below test/ that take longest: each is a run, and they begin first. */
const LONG = [
  'rehearse/rehearse',
  'cli/work',
  'e2e/cluster-',
  'client/worker',
  'package/client',
  'log/etcd/replicated-log',
  'simulator/replicated/',
  'reliability/mixed',
  'reliability/years',
];
/** Those whose tests start processes. */
const WITH_PROCESSES = [
  ...LONG,
  'reliability/',
  'simulator/',
  'log/lmdb-crash',
  'log/etcd/',
  'support/etcd-cluster',
  'e2e/',
  'examples/',
  'recipes/',
  'package/',
  'rehearse/run',
  'cli/offline',
  'cli/permission',
  'actors/system',
  'house/build',
  'support/etcd/real-etcd',
];
/** Those among them whose tests do not. */
const WITHOUT = [
  'reliability/soak-judge',
  'simulator/checkers/',
  'simulator/model/',
  'log/etcd/etcd-troubles',
  'log/etcd/trim',
  'log/etcd/values',
];
/** Of these `test` plays a third, others each day: each starts nodes and members of etcd. */
const BY_DAYS = ['e2e/cluster-'];
const DAYS = 3;
/** Those that take whole installations are played with the proofs alone. */
const WITH_INSTALLATIONS = ['package/install', 'package/runners', 'package/schemas'];
/** Those that are proofs: what they show, they show by trying for long. */
const PROOFS = [
  ...WITH_INSTALLATIONS,
  'cli/work',
  'package/client',
  'rehearse/rehearse',
  'reliability/',
  'simulator/',
  'client/worker-faults',
  'log/lmdb-crash',
  'log/etcd/etcd-faults',
  'log/etcd/replicated-log',
  'e2e/cluster-',
  'e2e/crash',
  'e2e/every-url',
  'e2e/follow',
  'e2e/readme',
  'e2e/stories',
  'recipes/outbox',
];

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const all = readdirSync('dist/test', { recursive: true })
  .filter((name) => name.endsWith('.test.js'))
  .sort((a, b) => (a < b ? -1 : 1));
const isIn = (parts) => (name) => parts.some((part) => name.startsWith(part));
const slow = [...new Set(WITH_PROCESSES.flatMap((part) => all.filter(isIn([part]))))].filter(
  (name) => !isIn(WITHOUT)(name),
);
const alone = (names) => names.map((name) => [name]);
const inParts = (names, size) =>
  Array.from({ length: Math.ceil(names.length / size) }, (_, i) =>
    names.slice(i * size, (i + 1) * size),
  );
const quick = all.filter((name) => !isIn(WITH_PROCESSES)(name) || isIn(WITHOUT)(name));

const day = Math.floor(Date.now() / DAY_MS);
const { SEED = String(Date.now() % 1_000_000), TURN = String(day) } = process.env;
const byDays = slow.filter(isIn(BY_DAYS));
const isToday = (file) =>
  !isIn(BY_DAYS)(file) || (byDays.indexOf(file) + Number(TURN)) % DAYS === 0;
const short = slow.filter((file) => !isIn(WITH_INSTALLATIONS)(file)).filter(isToday);
const TIERS = {
  quick: { runs: inParts(quick, TOGETHER.quick) },
  test: {
    runs: [
      ...alone(short.filter(isIn(LONG))),
      ...inParts(
        short.filter((file) => !isIn(LONG)(file)),
        TOGETHER.withProcesses,
      ),
      ...inParts(quick, TOGETHER.quick),
    ],
    env: { TIER: 'short', SEED, TURN },
  },
  proofs: { runs: alone(slow.filter(isIn(PROOFS))), env: { SEED } },
};

const [name, ...args] = process.argv.slice(2);
const tier = TIERS[name];
if (tier === undefined) throw new Error(`there is no tier ${name}: ${Object.keys(TIERS)}`);
if (tier.env) {
  const words = Object.entries(tier.env).filter(([key]) => key !== 'TIER');
  console.log(`again the same: ${words.map((pair) => pair.join('=')).join(' ')} npm run ${name}`);
}

const runs = [...tier.runs];
const scratch = mkdtempSync(join(tmpdir(), 'leasehold-test-'));
const sum = { passes: 0, failures: 0, pending: 0, failed: [], files: {} };
const next = async () => {
  for (let run = runs.shift(); run !== undefined; run = runs.shift()) add(await mocha(run));
};
await Promise.all(Array.from({ length: AT_A_TIME[name] }, next));
rmSync(scratch, { recursive: true });

if (process.env.TEST_RESULT) writeFileSync(process.env.TEST_RESULT, JSON.stringify(sum));
for (const title of sum.failed) console.log(`failed: ${title}`);
if (process.env.TIMES) tellTimes();
if (sum.pending > 0) console.log(`${sum.pending} skipped on this machine`);
console.log(`${sum.passes} passed, ${sum.failures} failed`);
process.exitCode = sum.passes > 0 && sum.failures === 0 ? 0 : 1;

function add({ passes, failures, pending, failed, files = {} }) {
  sum.passes += passes;
  sum.failures += failures;
  sum.pending += pending;
  sum.failed.push(...failed);
  for (const [file, seconds] of Object.entries(files)) {
    sum.files[file] = (sum.files[file] ?? 0) + seconds;
  }
}

/** The processor seconds of each file, the most expensive first. */
function tellTimes() {
  const files = Object.entries(sum.files).sort(([, a], [, b]) => b - a);
  for (const [file, seconds] of files) console.log(`${seconds.toFixed(1).padStart(7)} ${file}`);
  const whole = files.reduce((all, [, seconds]) => all + seconds, 0);
  console.log(`${whole.toFixed(1).padStart(7)} seconds of a processor in all`);
}

/** @returns what a run of these files came to; what it printed is printed when it is over. */
function mocha(files) {
  const result = join(scratch, files[0].replaceAll('/', '-'));
  // Without the other executable of mocha, which would start node once more for the flag.
  const words = ['--enable-source-maps', 'node_modules/mocha/bin/_mocha', ...args];
  const child = spawn(
    process.execPath,
    [...words, ...files.map((file) => join('dist/test', file))],
    {
      env: { ...process.env, ...tier.env, TEST_RESULT: result },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const printed = [];
  const began = performance.now();
  child.stdout.on('data', (part) => printed.push(part));
  child.stderr.on('data', (part) => printed.push(part));
  return new Promise((resolve) => {
    child.once('close', (code) => {
      process.stdout.write(Buffer.concat(printed));
      const came = resultOf(result, files, code);
      if (process.env.TIMES) {
        const seconds = (performance.now() - began) / 1_000;
        console.log(`took ${seconds.toFixed(0)} s: ${files.join(' ')}`);
      }
      resolve(came);
    });
  });
}

function resultOf(file, files, code) {
  let found = { passes: 0, failures: 0, pending: 0, failed: [] };
  try {
    found = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    // It broke off before it had a result.
  }
  if (code === 0 || found.failures > 0) return found;
  return { ...found, failures: 1, failed: [`${files.join(' ')}: the run broke off (${code})`] };
}
