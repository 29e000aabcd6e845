// Rehearses workers as a user would, with the executable: good ones keep the contract, and each bad
// one is convicted of its own fault and of no other. `SOAK=1` plays every scenario.

import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { inTurn } from '../support/tier.ts';

const MAIN = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));
const SOURCES = fileURLToPath(new URL('../../../test/rehearse/workers/', import.meta.url));
const EXAMPLES = fileURLToPath(new URL('../examples/', import.meta.url));
const PYTHON = fileURLToPath(new URL('../../../docs/examples/worker.py', import.meta.url));
const SHELL = fileURLToPath(new URL('../../../docs/examples/worker.sh', import.meta.url));
const WHOLE = process.env['SOAK'] === '1';

interface Told {
  readonly status: number;
  readonly err: string;
  readonly scenarios: readonly {
    readonly name: string;
    readonly verdict: string | null;
    readonly faults: readonly { readonly name: string; readonly evidence: readonly string[] }[];
  }[];
}

const pool = (...args: string[]): string => `exec python3 ${SOURCES}pool.py ${args.join(' ')}`;
const lines = (fault = ''): string => `exec node ${SOURCES}lines.mjs ${fault}`;
const curl = (fault = ''): string => `exec bash ${SOURCES}curl.sh ${fault}`;
const byHand = (fault = ''): string => `exec node ${SOURCES}by-hand.mjs ${fault}`;

describe('rehearse', () => {
  let dir: string;
  before(() => {
    dir = mkdtempSync(path.join(os.tmpdir(), 'leasehold-rehearse-test-'));
  });
  after(() => rmSync(dir, { recursive: true, force: true }));

  function rehearse(command: string, payload: string, ...more: string[]): Promise<Told> {
    const file = path.join(dir, `${Math.abs(hash(payload))}.jsonl`);
    writeFileSync(file, `${payload}\n`);
    const args = ['rehearse', '--worker', command, '--payloads', file, '--json', ...more];
    return new Promise((resolve) => {
      execFile(process.execPath, [MAIN, ...args], { maxBuffer: 2 ** 26 }, (error, out, err) => {
        const status = error === null ? 0 : Number(error.code);
        const { scenarios } = JSON.parse(out || '{"scenarios":[]}') as Pick<Told, 'scenarios'>;
        resolve({ status, err, scenarios });
      });
    });
  }

  const chosen = (...names: string[]): string[] =>
    WHOLE ? [] : names.flatMap((name) => ['--scenario', name]);
  const faultsOf = ({ scenarios }: Told): string[] => [
    ...new Set(scenarios.flatMap(({ faults }) => faults.map(({ name }) => name))),
  ];

  const good: Record<
    string,
    [command: string, payload: string, scenarios: string[], more: string[]]
  > = {
    'the Worker with a ledger': [
      `exec node ${SOURCES}careful.mjs`,
      '{"a":1}',
      [
        'execution-window',
        'frozen-before-effect',
        'report-answer-lost',
        'sigterm-at-work',
        'long-task',
      ],
      ['--effects-url'],
    ],
    'a worker over plain HTTP': [
      byHand(),
      '{"a":1}',
      ['frozen-after-effect', 'report-delayed', 'unavailable'],
      ['--effects-url'],
    ],
    'a pool in Python that takes tasks in advance, with every request in a batch': [
      pool('--capacity 2 --prefetch 3 --batch'),
      '{"a":1}',
      ['report-doubled', 'sigterm-at-work', 'unavailable', 'long-task'],
      ['--effects-url'],
    ],
    'a pool in Python that polls': [
      pool('--capacity 4 --poll 30'),
      '{"a":1}',
      ['report-delayed', 'heartbeats-lost', 'payload-no-json', 'sigint-at-work'],
      ['--effects-url'],
    ],
    'a worker of bash and curl': [
      curl(),
      '{"a":1}',
      ['report-answer-cut', 'unavailable', 'frozen-before-effect'],
      ['--effects-url'],
    ],
    'a worker over the bare line socket, four tasks at a time': [
      lines(),
      '{"a":1}',
      ['report-delayed', 'sigterm-at-work', 'heartbeat-answers-lost', 'grant-cut'],
      ['--effects-url'],
    ],
    'the loop of the documents': [
      `exec node ${EXAMPLES}loop.js`,
      '{"name":"Ada"}',
      ['killed-before-report', 'frozen-before-effect', 'report-answer-cut'],
      ['--queue', 'greet'],
    ],
    'the Worker of the documents': [
      `exec node ${EXAMPLES}worker.js`,
      '{"name":"Ada"}',
      ['coordinator-back-soon', 'report-doubled', 'grant-cut'],
      ['--queue', 'greet'],
    ],
    'the worker in Python, over the line socket': [
      `exec python3 ${PYTHON} 127.0.0.1 $LEASEHOLD_SOCKET_PORT sums`,
      '{"add":[1,2],"seconds":0.1}',
      ['killed-before-effect', 'report-answer-lost', 'payload-no-json'],
      ['--queue', 'sums'],
    ],
    'the worker in the shell, which does one task and ends': [
      `exec bash ${SHELL} 127.0.0.1 $LEASEHOLD_SOCKET_PORT shout`,
      'quiet, please',
      ['killed-before-report', 'report-doubled', 'two-at-once'],
      ['--queue', 'shout'],
    ],
  };
  for (const [name, [command, payload, scenarios, more]] of inTurn(Object.entries(good))) {
    it(`finds that ${name} keeps the contract`, async function () {
      this.timeout(240_000);
      const told = await rehearse(command, payload, ...chosen(...scenarios), ...more);
      expect(faultsOf(told), JSON.stringify(told)).to.deep.equal([]);
      expect(told.status, told.err).to.equal(0);
      expect(told.scenarios.length).to.be.greaterThan(scenarios.length);
    });
  }

  /** The innocent scenario has nothing in which the fault could show; with some there is none. */
  const bad: [fault: string, command: string, guilty: string, innocent?: string][] = [
    ['no-heartbeat', byHand('no-heartbeat'), 'long-task', 'report-answer-lost'],
    ['no-heartbeat', pool('dead-thread'), 'long-task', 'report-lost'],
    ['heartbeat-after-report', pool('beats-on'), 'report-lost'],
    ['effect-without-lease', byHand('no-check'), 'frozen-before-effect', 'report-answer-lost'],
    ['effect-without-lease', pool('late-effect'), 'frozen-before-effect', 'report-lost'],
    ['sent-after-cancelled', byHand('after-cancelled'), 'frozen-after-effect', 'report-lost'],
    ['sent-after-cancelled', lines('fails-after-cancelled'), 'report-delayed', 'report-lost'],
    ['second-report', pool('repeats-rejected', '--batch'), 'report-doubled', 'report-lost'],
    ['second-report', curl('reports-twice'), 'grant-lost'],
    ['old-lease', pool('old-lease'), 'heartbeats-lost', 'report-lost'],
    ['old-lease', curl('previous-lease'), 'report-delayed', 'report-lost'],
    ['report-given-up', pool('drops-unavailable'), 'unavailable', 'report-lost'],
    ['no-report', pool('swallows'), 'payload-no-json', 'report-lost'],
    ['no-report', lines('swallows'), 'payload-no-json', 'report-lost'],
    ['crashed', pool('crashes'), 'payload-no-json', 'report-lost'],
    ['ignores-shutdown', byHand('deaf'), 'sigterm-idle', 'report-lost'],
    ['kept-at-shutdown', pool('keeps'), 'sigterm-at-work', 'report-lost'],
    ['kept-at-shutdown', lines('keeps'), 'sigint-at-work', 'report-lost'],
    ['reported-before-effect', byHand('too-soon'), 'killed-before-report'],
    ['effect-repeated', byHand('repeats'), 'report-answer-lost', 'grant-lost'],
  ];
  for (const [fault, command, guilty, innocent] of inTurn(bad)) {
    const [program] = /[^/]+$/.exec(command) ?? [];
    it(`convicts ${program} of ${fault}, and of nothing else`, async function () {
      this.timeout(240_000);
      const names = chosen(guilty, ...(innocent === undefined ? [] : [innocent]));
      const told = await rehearse(command, '{"a":1}', '--effects-url', ...names);
      expect(faultsOf(told), JSON.stringify(told)).to.deep.equal([fault]);
      expect(told.status).to.equal(1);
      const faultsIn = (wanted: string) =>
        told.scenarios.find(({ name }) => name === wanted)?.faults.map(({ name }) => name);
      expect(faultsIn(guilty)).to.deep.equal([fault]);
      if (innocent !== undefined) expect(faultsIn(innocent)).to.deep.equal([]);
    });
  }

  const others: (readonly [title: string, play: () => Promise<void>])[] = [];
  const other = (title: string, play: () => Promise<void>): void => {
    others.push([title, play]);
  };

  other('counts effects by a command of the user, each scenario for itself', async () => {
    const effects = mkdtempSync(path.join(dir, 'effects-'));
    const append = `echo 1 >> ${effects}/$LEASEHOLD_TASK_ID`;
    const command = `${process.execPath} ${MAIN} work --exec '${append}'`;
    const count = `cat ${effects}/$LEASEHOLD_TASK_ID 2> /dev/null | wc -l`;
    const names = ['--scenario', 'grant-lost', '--scenario', 'killed-before-report'];
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
    const more = ['--effects-url', ...allow, '--junit', junit];
    expect((await rehearse(byHand('repeats'), '{"a":1}', ...more)).status).to.equal(0);
    const text = readFileSync(junit, 'utf8');
    expect(text).to.include('tests="2" failures="0" skipped="0"');
  });

  other(
    'tells an effect that a store of fencing tokens could refuse from one it refuses',
    async () => {
      const args = ['--effects-url', '--scenario', 'execution-window'];
      for (const [more, verdict] of [
        [[], 'effect doubled but refusable'],
        [['--refuse-old-tokens'], 'kept'],
      ] as const) {
        const told = await rehearse(pool('--capacity 2'), '{"a":1}', ...args, ...more);
        expect(told.scenarios[1]?.verdict, JSON.stringify(told)).to.equal(verdict);
        expect(told.scenarios[1]?.faults).to.deep.equal([]);
        expect(told.status).to.equal(verdict === 'kept' ? 0 : 1);
      }
    },
  );

  other('gives the same verdicts for the same seed', async () => {
    const names = ['frozen-before-effect', 'report-delayed'];
    const args = ['--effects-url', '--seed', '7', ...names.flatMap((name) => ['--scenario', name])];
    const runs = [];
    for (let run = 0; run < 2; run++) {
      const { scenarios, err } = await rehearse(byHand('no-check'), '{"a":1}', ...args);
      expect(scenarios, err).to.have.length(3);
      runs.push(scenarios.map(({ name, verdict }) => ({ name, verdict })));
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

  for (const [title, play] of inTurn(others, 2)) it(title, play).timeout(120_000);

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
    it(`leaves no process and no folder ${when}`, play).timeout(120_000);
  }

  /** A rehearsal in which a run has begun, with a folder of its own for all that it makes. */
  async function begun(...more: string[]) {
    const tmp = mkdtempSync(path.join(dir, 'tmp-'));
    const file = path.join(dir, 'killed.jsonl');
    writeFileSync(file, '{"a":1}\n');
    const args = ['rehearse', '--worker', byHand(), '--payloads', file, '--effects-url'];
    const env = { ...process.env, TMPDIR: tmp };
    const child = spawn(process.execPath, [MAIN, ...args, ...more], { env, stdio: 'pipe' });
    const inTmp = (): string[] => readdirSync(tmp);
    const end = performance.now() + 60_000;
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

const hash = (text: string): number =>
  [...text].reduce((sum, char) => (Math.imul(sum, 31) + (char.codePointAt(0) ?? 0)) | 0, 7);

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
