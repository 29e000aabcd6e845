// Rehearses workers as a user would, with the executable: what its options do, and what it leaves
// behind. Good and bad workers have files of their own.

import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import { EXECUTABLE } from '../../src/play/demo/processes.ts';
import { inTurn } from '../support/tier.ts';
import { byHand, chosen, faultsOf, pool, rehearse, rehearseBad, type Told } from './rehearsal.ts';

describe('rehearse', () => {
  let dir: string;
  before(() => {
    dir = mkdtempSync(path.join(os.tmpdir(), 'leasehold-rehearse-test-'));
  });
  after(() => rmSync(dir, { recursive: true, force: true }));

  const others: (readonly [title: string, play: () => Promise<void>])[] = [];
  const other = (title: string, play: () => Promise<void>): void => {
    others.push([title, play]);
  };

  const DOCUMENTED = fileURLToPath(new URL('../examples/worker.js', import.meta.url));
  other('finds that the Worker of the documents keeps the contract', async () => {
    const names = ['coordinator-back-soon', 'report-doubled', 'grant-cut'];
    const more = ['--queue', 'greet', ...chosen(...names)];
    const told = await rehearse(`exec node ${DOCUMENTED}`, '{"name":"Ada"}', ...more);
    expect(faultsOf(told), JSON.stringify(told)).to.deep.equal([]);
    expect(told.status, told.err).to.equal(0);
    expect(told.scenarios).to.have.length(1 + names.length);
  });

  other('counts effects by a command of the user, each scenario for itself', async () => {
    const effects = mkdtempSync(path.join(dir, 'effects-'));
    const append = `echo 1 >> ${effects}/$LEASEHOLD_TASK_ID`;
    const command = `${process.execPath} ${EXECUTABLE} work --exec '${append}'`;
    const count = `cat ${effects}/$LEASEHOLD_TASK_ID 2> /dev/null | wc -l`;
    const names = chosen('grant-lost', 'killed-before-report');
    const told = await rehearse(`exec ${command}`, '{"a":1}', '--effects-cmd', count, ...names);
    const verdicts = told.scenarios.map(({ verdict }) => verdict);
    expect(verdicts, told.err).to.deep.equal(['kept', 'effect doubled', 'kept']);
    expect(told.status).to.equal(1);
  });

  other('says that the command cannot count, and does not blame the worker', async () => {
    const told = await rehearse('true', '{"a":1}', '--effects-cmd', 'echo some');
    expect(told.status).to.equal(2);
    expect(told.err).to.equal(
      '--effects-cmd for task T2: it printed "some\\n", which is no number\n',
    );
  });

  other('accepts what is allowed by name, and writes a JUnit file', async () => {
    const junit = path.join(dir, 'report.xml');
    const allow = ['--scenario', 'report-answer-lost', '--allow', 'report-answer-lost'];
    const more = ['--effects-url', '--seed', '7', ...allow, '--junit', junit];
    const { status, seed } = await rehearse(byHand('repeats'), '{"a":1}', ...more);
    expect({ status, seed }).to.deep.equal({ status: 0, seed: 7 });
    const text = readFileSync(junit, 'utf8');
    expect(text).to.include('tests="2" failures="0" skipped="0"');
  });

  other('tells an effect that a store of fencing tokens could refuse', async () => {
    const scenarios = ['execution-window'];
    const verdict = 'effect doubled but refusable';
    const told = await rehearseBad(
      pool('--capacity 2'),
      { scenarios },
      (one) => one.scenarios[1]?.verdict === verdict,
    );
    expect(told.scenarios[1]?.verdict, JSON.stringify(told)).to.equal(verdict);
    expect(told.scenarios[1]?.faults).to.deep.equal([]);
    expect(told.status).to.equal(1);
  });

  other('keeps the contract where the store of fencing tokens refuses the effect', async () => {
    const args = ['--effects-url', '--refuse-old-tokens', ...chosen('execution-window')];
    const told = await rehearse(pool('--capacity 2'), '{"a":1}', ...args);
    expect(told.scenarios[1]?.verdict, JSON.stringify(told)).to.equal('kept');
    expect(told.status).to.equal(0);
  });

  other('gives the same verdicts for the same seed', async () => {
    const scenarios = ['frozen-before-effect', 'report-delayed'];
    const runs: { name: string; verdict: string | null }[][] = [];
    const verdictsOf = (told: Told) =>
      told.scenarios.map(({ name, verdict }) => ({ name, verdict }));
    for (let run = 0; run < 2; run++) {
      const told = await rehearseBad(
        byHand('no-check'),
        { scenarios, seed: 7 },
        (one) => run === 0 || isDeepStrictEqual(verdictsOf(one), runs[0]),
      );
      runs.push(verdictsOf(told));
    }
    expect(runs[1]).to.deep.equal(runs[0]);
    expect(runs[0]).to.have.length(3);
  });

  other('says that a worker does nothing at all', async () => {
    const told = await rehearse('true', '{"a":1}', '--lease-ms', '500');
    expect(told.status).to.equal(1);
    expect(told.err).to.include('even when nothing goes wrong');
    expect(told.err).to.include('ended by itself (status 0) before it had sent a request');
  });

  for (const [title, play] of inTurn(others, 2)) it(title, play).timeout(240_000);

  const ends: (readonly [title: string, play: () => Promise<void>])[] = [];
  for (const signal of ['SIGKILL', 'SIGTERM', 'SIGINT'] as const) {
    const play = async (): Promise<void> => {
      const { child, until, isClean } = await begun();
      child.kill(signal);
      await until('everything is gone', isClean);
    };
    ends.push([`after ${signal}`, play]);
  }
  const unread = async (): Promise<void> => {
    const { child, until, isClean } = await begun('--scenario', 'grant-lost');
    child.stdout?.destroy();
    child.stderr?.destroy();
    await until('everything is gone', () => child.exitCode !== null && isClean());
  };
  ends.push(['when nobody reads what it prints', unread]);
  for (const [when, play] of inTurn(ends)) {
    it(`leaves no process and no folder ${when}`, play);
  }

  /** A rehearsal in which a run has begun, with a folder of its own for all that it makes. */
  async function begun(...more: string[]) {
    const tmp = mkdtempSync(path.join(dir, 'tmp-'));
    const file = path.join(dir, 'killed.jsonl');
    writeFileSync(file, '{"a":1}\n');
    const args = ['rehearse', '--worker', byHand(), '--payloads', file, '--effects-url'];
    const env = { ...process.env, TMPDIR: tmp };
    const child = spawn(process.execPath, [EXECUTABLE, ...args, ...more], { env, stdio: 'pipe' });
    const inTmp = (): string[] => readdirSync(tmp);
    // It starts three servers meanwhile, and workers: on a busy machine a minute is not enough.
    const end = performance.now() + 170_000;
    const until = async (what: string, isSo: () => boolean): Promise<void> => {
      while (!isSo()) {
        if (performance.now() > end) throw new Error(`never: ${what}; ${processesIn(tmp)}`);
        await pause(50);
      }
    };
    await until('a run began', () => inTmp().length > 0 && processesIn(tmp).length >= 2);
    return { child, until, isClean: () => inTmp().length === 0 && processesIn(tmp).length === 0 };
  }
});

/** Processes that have this folder for temporary files, but for the rehearsal's own. */
function processesIn(tmp: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const env = readFileSync(`/proc/${pid}/environ`, 'utf8');
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
        return env.includes(`TMPDIR=${tmp}`) && !/\0rehearse\0/.test(command);
      } catch {
        return false;
      }
    });
}
