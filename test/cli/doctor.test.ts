// What `doctor` thinks of figures: pure tables, and the pages that it sends people to.

import fs, { readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { directoryFacts } from '../../src/cli/doctor/directory-facts.ts';
import {
  type Finding,
  findingLines,
  msText,
  PAGES,
  sizeText,
  worstOf,
} from '../../src/cli/doctor/finding.ts';
import {
  type DirectoryFacts,
  judgeDirectory,
  type LogFacts,
} from '../../src/cli/doctor/judge-directory.ts';
import { judgeServer, type ServerFacts } from '../../src/cli/doctor/judge-server.ts';
import { processFacts, serverFacts } from '../../src/cli/doctor/server-facts.ts';
import { openLmdbLog } from '../../src/log/lmdb-log.ts';
import { World } from '../support/world.ts';

const GIB = 2 ** 30;
const SOUND: ServerFacts = {
  answerMs: 2,
  mode: 'serving',
  ownVersion: '1.2.3',
  version: '1.2.3',
  clockOffsetMs: 5,
  localOffsetMs: -20,
  lagMs: 11,
  refused: 0,
  logBytes: 5 * GIB,
  forgottenBytes: 0,
  retentionMs: 1,
  retentionFailedMs: 1,
  failedTasks: 0,
  process: { commits: 9, commitMeanMs: 1, commitMostMs: 5, openFiles: 60, maxFiles: 65_536 },
  cluster: undefined,
  upMs: 999_999,
  unasked: [],
  isWhole: true,
  poisonThreshold: 10,
  expiring: [],
};
const CLUSTER = { nodes: 2, holders: undefined, refusing: undefined };
const LOG: LogFacts = {
  records: 9,
  looked: 9,
  bytes: 1_000,
  wasShortened: false,
  newestAheadMs: -5_000,
  expiries: undefined,
  poisonThreshold: 10,
};
const DISK: DirectoryFacts = {
  isServed: false,
  flush: { medianMs: 2, mostMs: 9, rounds: 20 },
  fileSystem: undefined,
  freeBytes: 100 * GIB,
  totalBytes: 200 * GIB,
  maxFiles: 65_536,
  log: LOG,
};

const amiss = (findings: readonly Finding[]): string[] =>
  findings.filter(({ verdict }) => verdict !== 'ok').map((one) => `${one.verdict} ${one.check}`);
const server = (more: Partial<ServerFacts>): string[] => amiss(judgeServer({ ...SOUND, ...more }));
const disk = (more: Partial<DirectoryFacts>): string[] =>
  amiss(judgeDirectory({ ...DISK, ...more }));
const log = (more: Partial<LogFacts>): string[] => disk({ log: { ...LOG, ...more } });

describe('what doctor says of a log', () => {
  const said = (more: Partial<LogFacts>): string[] =>
    judgeDirectory({ ...DISK, log: { ...LOG, ...more } }).map(({ figure }) => figure);

  it('counts one record as one', () => {
    const many = said({ records: 50, looked: 9 });
    expect(many).to.include('the last 9 of 50 records are sound; verify reads all');
    expect(many).to.include('no task is near 10 expiries in a row in the last 9 records');
    const one = said({ records: 1, looked: 1 });
    expect(one).to.include('the last 1 of 1 record is sound; verify reads all');
    expect(one).to.include('no task is near 10 expiries in a row in the last 1 record');
  });
});

describe('what doctor reads of a log', () => {
  const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'leasehold-doctor-'));
  after(() => fs.rmSync(dataDir, { recursive: true, force: true }));

  it('is the newest records, and not the newest numbers', async () => {
    const world = await World.started({ leaseDurationMs: 10 });
    await world.submit();
    for (let n = 0; n < 3; n += 1) {
      await world.lease();
      world.time += 10;
      await world.tick();
    }
    await world.restart({ skip: 1_000_000 });
    let log = await openLmdbLog({ dataDir });
    for (const record of world.records()) {
      const isStart = record.type === 'CoordinatorStarted';
      if (isStart && record.seq > 1) {
        await log.close();
        log = await openLmdbLog({ dataDir });
      }
      const done = isStart ? log.start(record) : log.append([record]);
      expect(await done).to.equal('durable');
    }
    await log.close();
    const facts = await directoryFacts(dataDir, {});
    expect(facts.log).to.deep.include({
      records: 9,
      looked: 9,
      expiries: { taskId: 'T2', count: 3 },
    });
  });
});

describe('what doctor asks a server', () => {
  it('is the newest expiries, of however many', async () => {
    const expiries = Array.from({ length: 3_000 }, (_, n) => ({ task_id: `T${n + 1}` }));
    const answer = (op: string, params: Record<string, unknown>): object => {
      if (op === 'stats') return { tasks: {}, log_last_sequence: 9_000, now: 1 };
      if (op === 'queues') return { queues: [], now: 1, since: 0 };
      if (op === 'cluster') return { role: 'single' };
      if (op === 'log') {
        const { tail, limit = 100 } = params;
        return { records: tail ? expiries.slice(-Number(tail)) : expiries.slice(0, Number(limit)) };
      }
      const task_id = `T${Number(String(params['after']).slice(1)) + 1}`;
      return { tasks: [{ task_id, state: 'WAITING', expirations: 7 }] };
    };
    const asked = {
      url: 'tcp://127.0.0.1:1',
      ask: async (op: string, params: object) => ({
        body: answer(op, params as Record<string, unknown>),
      }),
    };
    const { expiring } = await serverFacts(asked as never, '1.2.3', {});
    expect(expiring.map(({ taskId }) => taskId))
      .to.include('T3000')
      .and.not.include('T1000');
  });
});

describe('what doctor thinks of a server', () => {
  it('is ok where all is in order', () => {
    expect(server({})).to.deep.equal([]);
    expect(server({ poisonThreshold: 0 })).to.deep.equal([]);
    expect(server({ cluster: CLUSTER })).to.deep.equal([]);
    expect(server({ cluster: { ...CLUSTER, holders: 2 } })).to.deep.equal([]);
  });

  const process = SOUND.process as NonNullable<ServerFacts['process']>;
  const cases: [Partial<ServerFacts>, string][] = [
    [{ mode: 'read-only' }, 'bad server'],
    [{ answerMs: 150, localOffsetMs: 0 }, 'look server'],
    [{ version: '1.2.2' }, 'look version'],
    [{ process: undefined }, 'look disk, files'],
    [{ process: { ...process, commitMeanMs: 30 } }, 'look disk flush'],
    [{ process: { ...process, commitMeanMs: 300 } }, 'bad disk flush'],
    [{ process: { ...process, openFiles: 40_000 } }, 'look file descriptors'],
    [{ process: { ...process, openFiles: 65_000 } }, 'bad file descriptors'],
    [{ process: { ...process, maxFiles: 1_024 } }, 'look file descriptors'],
    [{ cluster: { ...CLUSTER, nodes: 1 } }, 'look cluster'],
    [{ cluster: { ...CLUSTER, holders: 1 } }, 'bad cluster'],
    [{ cluster: { ...CLUSTER, refusing: 'etcd is nearly full' } }, 'bad cluster'],
    [{ clockOffsetMs: -1_500 }, 'look clock'],
    [{ clockOffsetMs: 86_400_000 }, 'bad clock'],
    [{ localOffsetMs: 5_000 }, 'look clock, from here'],
    [{ refused: 3 }, 'look load'],
    [{ lagMs: 3_000 }, 'bad load'],
    [{ unasked: ['mail'] }, 'look queues'],
    [{ expiring: [{ taskId: 'T1', expirations: 5 }] }, 'look poison'],
    [{ expiring: [{ taskId: 'T1', expirations: 9 }] }, 'bad poison'],
    [{ poisonThreshold: 0, expiring: [{ taskId: 'T1', expirations: 1 }] }, 'look poison'],
    [{ failedTasks: 2 }, 'look failed tasks'],
    [{ retentionFailedMs: 0 }, 'look retention'],
    [{ forgottenBytes: 4 * GIB }, 'look retention'],
  ];
  for (const [more, expected] of cases) {
    it(`${expected}: ${JSON.stringify(more)}`, () => {
      expect(server(more)).to.deep.equal([expected]);
    });
  }

  it('names a few of the queues that nobody asks for, and counts the others', () => {
    const unasked = ['a', 'b', 'c', 'd', 'e'];
    const found = judgeServer({ ...SOUND, unasked, upMs: 5_000 });
    const figure = found.find(({ check }) => check === 'queues')?.figure;
    expect(figure).to.include('a, b, c and 2 others').and.to.include('started 5.0 s ago');
    const cut = judgeServer({ ...SOUND, unasked, isWhole: false });
    expect(cut.find(({ check }) => check === 'queues')?.figure).to.include('and 2 or more others');
  });

  it('does not take a short retention log, nor few expiries, for trouble', () => {
    expect(server({ retentionMs: 0, logBytes: 1_000 })).to.deep.equal([]);
    expect(server({ expiring: [{ taskId: 'T1', expirations: 4 }] })).to.deep.equal([]);
  });
});

describe('what doctor thinks of a data directory', () => {
  it('is ok where all is in order, also beside a server', () => {
    expect(disk({})).to.deep.equal([]);
    expect(disk({ isServed: true, maxFiles: undefined })).to.deep.equal([]);
    expect(log({ newestAheadMs: undefined, records: 0, looked: 0 })).to.deep.equal([]);
  });

  const cases: [string[], string][] = [
    [disk({ log: 'LOG_CORRUPT: record 3' }), 'bad log'],
    [disk({ flush: 'permission denied' }), 'look disk flush'],
    [disk({ flush: { medianMs: 0.002, mostMs: 1, rounds: 20 } }), 'look disk flush'],
    [disk({ flush: { medianMs: 40, mostMs: 90, rounds: 20 } }), 'look disk flush'],
    [disk({ flush: { medianMs: 400, mostMs: 900, rounds: 20 } }), 'bad disk flush'],
    [disk({ fileSystem: 'nfs' }), 'bad file system'],
    [disk({ fileSystem: 'tmpfs' }), 'bad file system'],
    [disk({ fileSystem: 'overlay' }), 'look file system'],
    [disk({ freeBytes: GIB / 2 }), 'look free space'],
    [disk({ freeBytes: 1_000 }), 'bad free space'],
    [disk({ maxFiles: 1_024 }), 'look file descriptors'],
    [disk({ maxFiles: 64 }), 'bad file descriptors'],
    [log({ newestAheadMs: 2_000 }), 'look clock'],
    [log({ newestAheadMs: 7_200_000 }), 'bad clock'],
    [log({ newestAheadMs: -400 * 86_400_000 }), 'bad clock'],
    [log({ expiries: { taskId: 'T2', count: 6 } }), 'look poison'],
    [log({ expiries: { taskId: 'T2', count: 9 } }), 'bad poison'],
    [log({ bytes: 11 * GIB }), 'look retention'],
  ];
  cases.forEach(([found, expected], at) => {
    it(`${expected} (${at + 1})`, () => expect(found).to.deep.equal([expected]));
  });
});

describe('how doctor tells it', () => {
  it('sends people to sections that exist', () => {
    for (const page of Object.values(PAGES)) {
      const [file = '', anchor = ''] = page.split('#');
      const headings = [...readFileSync(file, 'utf8').matchAll(/^#+ (.+)$/gm)].map(
        ([, text = '']) =>
          text
            .toLowerCase()
            .replaceAll(/[^\w\- ]/g, '')
            .replaceAll(' ', '-'),
      );
      expect(headings, page).to.include(anchor);
    }
  });

  it('fits the width, names the page only where there is something to read', () => {
    const finding: Finding = {
      check: 'disk flush',
      verdict: 'look',
      figure: 'words '.repeat(30).trim(),
      page: 'alerts',
    };
    const lines = findingLines(finding, 80);
    for (const line of lines) expect(line.length).to.be.at.most(80);
    expect(lines[0]).to.match(/^look {2}disk flush {8}words/);
    expect(lines.join(' ').replaceAll(/\s+/g, ' ')).to.include('Read docs/OPERATING.md#alerts');
    const sound = findingLines({ ...finding, verdict: 'ok' }, 80).join(' ');
    expect(sound).not.to.include('docs/');
    expect(worstOf([])).to.equal('ok');
    expect(worstOf([finding, { ...finding, verdict: 'bad' }])).to.equal('bad');
  });

  it('reads the figures of the process from metrics', () => {
    const name = 'leasehold_log_commit_duration_seconds';
    const text = [
      `${name}_bucket{le="0.001"} 50`,
      `${name}_bucket{le="0.0025"} 99`,
      `${name}_bucket{le="+Inf"} 100`,
      `${name}_sum 0.2`,
      `${name}_count 100`,
      'process_open_fds 52',
    ].join('\n');
    expect(processFacts(text)).to.deep.equal({
      commits: 100,
      commitMeanMs: 2,
      commitMostMs: 2.5,
      openFiles: 52,
      maxFiles: undefined,
    });
    expect(processFacts('')).to.include({ commits: 0, commitMeanMs: 0 });
  });

  it('gives sizes and times their units', () => {
    expect([0, 1_023, 1_536, 20 * GIB, 3 * 2 ** 50].map(sizeText)).to.deep.equal([
      ...['0 bytes', '1023 bytes', '1.5 KiB', '20 GiB', '3072 TiB'],
    ]);
    expect([0.024, 3.14, 240.6].map(msText)).to.deep.equal(['0.02 ms', '3.1 ms', '241 ms']);
  });
});
