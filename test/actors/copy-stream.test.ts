// What becomes of a copy of the log on its way, as its receiver takes it.

import { once } from 'node:events';
import { Writable } from 'node:stream';
import { expect } from 'chai';
import { type AskChunk, CopyStream } from '../../actors/ingress/copy-stream.ts';

const CHUNK = Buffer.from('chunk');

describe('the stream of a copy', () => {
  it('is broken off when its receiver takes nothing any more', async () => {
    let asked = 0;
    let ended = 0;
    const ask: AskChunk = () => {
      asked += 1;
      return Promise.resolve(CHUNK);
    };
    const stream = new CopyStream(ask, CHUNK, () => (ended += 1), 20);
    // Takes one chunk, and is never done with it.
    const deaf = new Writable({ highWaterMark: 1, write: () => {} });
    stream.pipe(deaf);
    const [error] = await once(stream, 'error');
    expect(error).to.include({ message: 'the receiver takes nothing any more' });
    expect(ended).to.equal(1);
    expect(asked, 'read ahead').to.be.at.most(2);
  });

  it('goes on to its end while its receiver takes it', async () => {
    const rest = [CHUNK, CHUNK, Buffer.alloc(0)];
    let ended = 0;
    const ask: AskChunk = () => Promise.resolve(rest.shift());
    const stream = new CopyStream(ask, CHUNK, () => (ended += 1), 60_000);
    const taken: Buffer[] = [];
    for await (const chunk of stream) taken.push(chunk);
    expect(Buffer.concat(taken).toString()).to.equal('chunkchunkchunk');
    expect(ended).to.equal(1);
  });
});
