// Runs a tier of the tests. `quick`: whatever needs no process of its own and waits for no device.
// `test`: all that there is, in short rounds, but of the files that start many processes a fifth
// each day. `proofs`: each proof at its full size, with all its controls. Which files these are
// stands in tiers.mjs. Some runs of mocha go on at the same time. It ends with the names of what
// failed, and with one line that counts all of them; a run that breaks off counts as a failure.
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runsOf } from './tiers.mjs';

/** Runs that go on at a time. Those that start processes mostly wait: for leases and for ends. */
const AT_A_TIME = { quick: 3, test: 5, proofs: 3 };
const DAY_MS = 86_400_000;

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const all = readdirSync('dist/test', { recursive: true })
  .filter((name) => name.endsWith('.test.js'))
  .sort((a, b) => (a < b ? -1 : 1));

const { SEED = String(Date.now() % 1_000_000), TURN = today() } = process.env;
/** What the runs of a tier are told, and what plays the same again. */
const TIERS = {
  quick: { told: {}, again: {} },
  test: { told: { TIER: 'short', SEED, TURN }, again: { SEED, TURN } },
  proofs: { told: { SEED }, again: { SEED } },
};

const [name, ...args] = process.argv.slice(2);
const tier = TIERS[name];
if (tier === undefined) throw new Error(`there is no tier ${name}: ${Object.keys(TIERS)}`);
const words = Object.entries(tier.again).map((pair) => pair.join('='));
if (words.length > 0) console.log(`again the same: ${words.join(' ')} npm run ${name}`);

const runs = runsOf(name, all, Number(TURN));
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

/** The number of the day. */
function today() {
  return String(Math.floor(Date.now() / DAY_MS));
}

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
function mocha({ files, env }) {
  const result = join(scratch, files[0].replaceAll('/', '-'));
  // Without the other executable of mocha, which would start node once more for the flag.
  const words = ['--enable-source-maps', 'node_modules/mocha/bin/_mocha', ...args];
  const child = spawn(
    process.execPath,
    [...words, ...files.map((file) => join('dist/test', file))],
    {
      env: { ...process.env, ...tier.told, ...env, TEST_RESULT: result },
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
