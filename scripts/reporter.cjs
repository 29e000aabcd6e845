// Owns what a test run tells: mocha's spec output for people, and with `TEST_RESULT` set a file of
// JSON for machines. A suite that is over but whose process does not end fails, and says what
// holds it.

const { readFileSync, writeFileSync } = require('node:fs');
const { relative } = require('node:path');
const { Spec } = require('mocha').reporters;

const LINGER_MS = 15_000;
const TICKS_PER_SECOND = 100;

/** @returns what this process and its children that have ended took; undefined without /proc. */
function processorSeconds() {
  try {
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1).split(' ');
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    return ticks / TICKS_PER_SECOND;
  } catch {
    return undefined;
  }
}

module.exports = class Reporter extends Spec {
  constructor(runner, options) {
    super(runner, options);
    const files = {};
    let before = 0;
    /** What was taken since the last time is the file's; what was taken first is mocha's start. */
    const take = (file = 'mocha') => {
      const now = processorSeconds() ?? 0;
      files[file] = (files[file] ?? 0) + now - before;
      before = now;
    };
    runner.once('start', () => take());
    runner.on('suite end', ({ file }) => take(file && relative('dist/test', file)));
    runner.once('end', () => {
      const file = process.env.TEST_RESULT;
      const failed = this.failures.map((test) => test.fullTitle());
      const told = { ...this.stats, failed, files };
      if (file) writeFileSync(file, JSON.stringify(told));
      setTimeout(() => {
        console.error('the tests are over, but held open by:', process.getActiveResourcesInfo());
        // Mocha sets the exit code when the process exits, after process.exit has set it.
        process.on('exit', () => {
          process.exitCode = 1;
        });
        process.exit();
      }, LINGER_MS).unref();
    });
  }
};
