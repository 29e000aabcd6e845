// Which directories of a log count: by number, whatever their names sort like.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import {
  createWhole,
  listSegments,
  removeLeftovers,
  segmentPath,
} from '../../src/log/segments/segment-files.ts';

describe('segment directories', () => {
  let logDir: string;
  beforeEach(() => {
    logDir = fs.mkdtempSync(path.join(os.tmpdir(), 'leasehold-names-'));
  });
  afterEach(() => fs.rmSync(logDir, { recursive: true }));

  const make = (ordinal: number, generation: number): void => {
    const directory = segmentPath(logDir, ordinal, generation);
    fs.mkdirSync(directory);
    fs.writeFileSync(path.join(directory, 'data.mdb'), '');
  };
  const listed = () => listSegments(logDir).map(({ ordinal, generation }) => [ordinal, generation]);

  it('count with their highest generation, in the order of their numbers', () => {
    for (const generation of [9, 10, 2]) make(2, generation);
    for (const ordinal of [100_000_000, 99_999_999, 1]) make(ordinal, 0);
    fs.mkdirSync(path.join(logDir, 'tmp-abc'));
    fs.mkdirSync(path.join(logDir, 'notes'));
    const wanted = [
      [1, 0],
      [2, 10],
      [99_999_999, 0],
    ];
    // Eight digits are the form: a ninth is no segment of this format.
    expect(listed()).to.deep.equal(wanted);
    removeLeftovers(logDir, listSegments(logDir));
    expect(listed()).to.deep.equal(wanted);
    expect(fs.readdirSync(logDir).toSorted()).to.deep.equal([
      '00000001-0',
      '00000002-10',
      '100000000-0',
      '99999999-0',
      'notes',
    ]);
  });

  it('say why one could not be made, and not why what was begun could not be removed', async () => {
    const { rmSync } = fs;
    const causeless = () => {
      throw Object.assign(new Error(', Unknown error'), { code: '' });
    };
    const filled = createWhole(segmentPath(logDir, 1, 0), async () => {
      fs.rmSync = causeless;
      throw Object.assign(new Error('too many open files'), { code: 'EMFILE' });
    });
    const refused = await filled.then(
      () => undefined,
      (error: NodeJS.ErrnoException) => error,
    );
    fs.rmSync = rmSync;
    expect(refused).to.include({ code: 'EMFILE' });
    removeLeftovers(logDir, []);
    expect(fs.readdirSync(logDir)).to.deep.equal([]);
  });
});
