// What the reader's thread tells of the copies that it sends: before the first byte of one is read,
// when it is whole, and when it was broken off.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { Copies } from '../../actors/reader/copies.ts';
import { Progress } from '../../actors/shared/progress.ts';
import { writeMirrorNote } from '../../src/cluster/mirror-note.ts';
import { framesOf } from '../../src/log/copy-wire.ts';
import { openLmdbLog } from '../../src/log/lmdb-log.ts';
import { monotonicMs } from '../../src/monotonic.ts';
import { created, started } from '../log/records.ts';

describe('copies that are sent', () => {
  let dir: string;
  beforeEach(async () => {
    dir = fs.mkdtempSync(path.join(os.tmpdir(), 'leasehold-copies-'));
    const log = await openLmdbLog({ dataDir: dir, segmentBytes: 65_536 });
    await log.start(started(1));
    await log.append([created(2), created(3)]);
    await log.close();
  });
  afterEach(() => fs.rmSync(dir, { recursive: true, force: true }));

  it('are told with what they hold, and forgotten when they are broken off', () => {
    writeMirrorNote(dir, { cluster: 'orders', log: 'l', mirror: 'm' });
    const { copies: note } = new Progress(Progress.share());
    const copies = new Copies(dir, note);
    for (const copy of [1, 2]) copies.next(copy);
    const before = monotonicMs();
    const [first, second] = note.read();
    expect([first?.last, first?.sentAt, second?.last]).to.deep.equal([3, undefined, 3]);
    expect(first?.mirror).to.not.equal(second?.mirror);
    while (copies.next(1).length > 0);
    const [sent] = note.read();
    expect(sent?.sentAt).to.be.within(before, monotonicMs());
    expect(note.read()).to.deep.equal([sent, second]);
    copies.close();
    expect(note.read()).to.deep.equal([{ ...first, sentAt: sent?.sentAt }]);
  });

  it('have the name in the note that the receiver gets', async () => {
    writeMirrorNote(dir, { cluster: 'orders', log: 'l', mirror: 'm' });
    const { copies: note } = new Progress(Progress.share());
    const copies = new Copies(dir, note);
    const { value: frame } = await framesOf(chunksOf(copies)).next();
    const [{ mirror } = { mirror: '' }] = note.read();
    const cluster = { cluster: 'orders', log: 'l', mirror };
    expect(frame).to.deep.equal({ kind: 'begin', begin: { format: 1, last: 3, cluster } });
  });

  it('hold everything from before they are read, whatever is flushed meanwhile', () => {
    const seen: number[] = [];
    writeMirrorNote(dir, { cluster: 'orders', log: 'l', mirror: 'm' });
    const { copies: note } = new Progress(Progress.share());
    const holds = note.holds.bind(note);
    note.holds = (mirror, last) => {
      seen.push(...note.read().map((copy) => copy.last));
      holds(mirror, last);
    };
    new Copies(dir, note).next(1);
    expect(seen).to.deep.equal([0]);
  });

  it('of a server without a cluster are told to nobody', () => {
    const { copies: note } = new Progress(Progress.share());
    const copies = new Copies(dir, note);
    while (copies.next(1).length > 0);
    expect(note.read()).to.deep.equal([]);
  });

  it('are broken off when the thread that was sending them has died', () => {
    const shared = Progress.share();
    const { copies: dead } = new Progress(shared);
    for (const mirror of ['sent', 'going']) dead.begins(mirror);
    dead.sent('sent', 7);
    const { copies: note } = new Progress(shared);
    note.adopt();
    expect(note.read()).to.deep.equal([{ mirror: 'sent', last: 0, sentAt: 7 }]);
    note.begins('next');
    expect(note.read().map(({ mirror }) => mirror)).to.deep.equal(['sent', 'next']);
  });

  it('that were sent long ago are forgotten', () => {
    const { copies: note } = new Progress(Progress.share());
    note.begins('open');
    for (let n = 0; n < 100; n += 1) {
      note.begins(`copy ${n}`);
      note.sent(`copy ${n}`, n);
    }
    const names = note.read().map(({ mirror }) => mirror);
    expect(names).to.have.length.within(10, 20);
    expect(names).to.include.members(['open', 'copy 99', 'copy 90']);
  });
});

async function* chunksOf(copies: Copies): AsyncGenerator<Uint8Array> {
  for (let chunk = copies.next(1); chunk.length > 0; chunk = copies.next(1)) yield chunk;
}
