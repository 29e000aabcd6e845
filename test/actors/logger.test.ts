// The logger as an operator's tools see it: whole lines from all threads, and no secret in them.

import { execFile } from 'node:child_process';
import { isatty } from 'node:tty';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import {
  createLogger,
  type LogSettings,
  logSettings,
  openedText,
} from '../../actors/supervisor/logger.ts';

const run = promisify(execFile);
const program = fileURLToPath(
  new URL(`./logging-process${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url),
);

async function output(settings: LogSettings, lines: number): Promise<string> {
  const task = JSON.stringify({ settings, lines });
  const { stdout } = await run(process.execPath, [program, task], {
    timeout: 120_000,
    maxBuffer: 2 ** 26,
  });
  return stdout;
}

describe('logger', () => {
  it('says how many records a log has', () => {
    const text = (created: boolean, records: number) => openedText({ created, records });
    expect(text(true, 0)).to.equal('created new log');
    expect(text(false, 0)).to.equal('opened log, 0 records');
    expect(text(false, 1)).to.equal('opened log, 1 record');
    expect(text(false, 2)).to.equal('opened log, 2 records');
  });

  it('writes whole lines of JSON from several threads into one pipe', async () => {
    const text = await output({ level: 'info', readable: false, color: false }, 100);
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    for (const actor of ['main', 'worker']) {
      const own = lines.filter((line) => line.actor === actor);
      expect(own.map(({ line }) => line)).to.deep.equal([...Array(100).keys()].map((i) => i + 1));
    }
    expect(lines).to.have.length(200);
    expect(lines[0]).to.include({ level: 'info', msg: 'a long line', token: 'set' });
    expect(lines[0].time).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(text).not.to.include('s3cret');
  });

  it('writes readable lines that name the actor', async () => {
    const text = await output({ level: 'info', readable: true, color: false }, 1);
    for (const actor of ['main', 'worker']) {
      expect(text).to.match(
        RegExp(`^\\[\\d\\d:\\d\\d:\\d\\d\\.\\d{3}\\] INFO: \\[${actor}\\] `, 'm'),
      );
    }
    expect(text).not.to.include('s3cret');
    expect(text).not.to.include('\u001b[');
  });

  it('takes the level it is given and is not readable on a pipe', () => {
    const settings = logSettings('warn');
    const logger = createLogger('test', settings);
    expect(logger.isLevelEnabled('warn')).to.equal(true);
    expect(logger.isLevelEnabled('info')).to.equal(false);
    expect(settings.readable).to.equal(isatty(1));
  });
});
