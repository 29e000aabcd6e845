// Reads the golden logs that each released format of the log has left: the same records, the same
// state, for ever. A failing line means that somebody's log cannot be read any more.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { stateDigest } from '../../src/core/digest.ts';
import { openLmdbLog } from '../../src/log/lmdb-log.ts';
import { openLmdbReader } from '../../src/log/lmdb-reader.ts';
import type { LogReader } from '../../src/log/log.ts';
import { replay } from '../../src/loop/replay.ts';
import { FORMAT_VERSION, RECORD_TYPES } from '../../src/model/records.ts';
import { formatRecord } from '../../src/protocol/record-json.ts';
import { digestText } from '../support/world.ts';
import { started } from './records.ts';

const GOLDEN = path.join('test', 'golden');
const NAMES = fs.readdirSync(GOLDEN).filter((name) => name.startsWith('log-'));

describe('golden logs', () => {
  let root: string;
  beforeEach(() => {
    root = fs.mkdtempSync(path.join(os.tmpdir(), 'leasehold-golden-'));
  });
  afterEach(() => fs.rmSync(root, { recursive: true }));

  it('exist for every format up to the present one', () => {
    const expected = Array.from({ length: FORMAT_VERSION }, (_, i) => `log-${i + 1}`);
    expect(NAMES.toSorted()).to.deep.equal(expected.toSorted());
  });

  for (const name of NAMES) {
    const file = (of: string) => fs.readFileSync(path.join(GOLDEN, name, of), 'utf8');
    const copied = () => {
      const dataDir = path.join(root, 'data');
      fs.cpSync(path.join(GOLDEN, name, 'data'), dataDir, { recursive: true });
      return dataDir;
    };
    const isTheSame = (log: LogReader) => {
      const lines = [...log.read(1)].map((record) => `${formatRecord(record)}\n`);
      expect(lines.join('')).to.equal(file('records.ndjson'));
      expect(log.dropped.ranges).to.deep.equal(JSON.parse(file('dropped.json')));
      expect(`${stateDigest(replay(log, { digestText }).state)}\n`).to.equal(file('digest.txt'));
    };

    it(`${name}: is read as it was written`, async () => {
      const reader = await openLmdbReader(copied());
      isTheSame(reader);
      await reader.close();
    });

    it(`${name}: is gone on with`, async () => {
      const log = await openLmdbLog({ dataDir: copied(), lock: false });
      isTheSame(log);
      const next = log.lastNumber + 1;
      expect(await log.start({ ...started(next), at: 2e12 })).to.equal('durable');
      expect(replay(log, { digestText }).state.lastSeq).to.equal(next);
      await log.close();
    });
  }

  it('hold every type of record in the newest format', () => {
    const lines = fs.readFileSync(path.join(GOLDEN, `log-${FORMAT_VERSION}`, 'records.ndjson'));
    for (const type of RECORD_TYPES) expect(lines.toString()).to.include(`"type":"${type}"`);
  });
});
