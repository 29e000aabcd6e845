// Holds the files of `rehearse` to plain words: what cannot be used is refused before the play.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { checkWritable, payloadsOf } from '../../src/cli/rehearse-files.ts';

describe('the files of a rehearsal', () => {
  let dir: string;
  before(() => {
    dir = mkdtempSync(path.join(os.tmpdir(), 'leasehold-rehearse-files-'));
  });
  after(() => rmSync(dir, { recursive: true, force: true }));

  const withBytes = (bytes: string | Buffer): string => {
    const file = path.join(dir, 'payloads');
    writeFileSync(file, bytes);
    return file;
  };

  it('hold one payload a line, whatever the line says', () => {
    const file = withBytes('{"a":1}\r\n\nno JSON, and ä\n');
    expect(payloadsOf(file)).to.deep.equal(['{"a":1}', 'no JSON, and ä']);
  });

  it('are refused in words when there is no payload in them', () => {
    const refused = (file: string | undefined, words: string): void =>
      void expect(() => payloadsOf(file))
        .to.throw(words)
        .with.property('status', 2);
    refused(path.join(dir, 'nowhere'), '/nowhere: it does not exist (ENOENT)');
    refused(dir, 'it is a directory (EISDIR)');
    refused(withBytes('\n\n'), 'no line of it holds a payload');
    refused(withBytes(Buffer.from([0xff, 0xfe])), 'it is no text in UTF-8');
    refused(undefined, '--payloads FILE');
  });

  it('are refused before the play when they could not be written after it', () => {
    const refused = (file: string, words: string): void =>
      void expect(() => checkWritable('--junit', file))
        .to.throw(words)
        .with.property('status', 2);
    refused(dir, 'it is a directory');
    refused(path.join(dir, 'nowhere', 'report.xml'), `there is no folder ${dir}/nowhere`);
    checkWritable('--junit', path.join(dir, 'report.xml'));
    checkWritable('--junit', withBytes('of an earlier run'));
  });
});
