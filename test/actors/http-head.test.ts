// HEAD where GET would be a stream without an end: nobody is left who reads for nobody.

import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { expect } from 'chai';
import type { FromReader, ToReader } from '../../actors/shared/reader-messages.ts';
import { type Stage, send, startServer } from './http-support.ts';

describe('HEAD of a stream', () => {
  let stage: Stage;
  let port: MessagePort;
  const asked: ToReader[] = [];
  const kinds = (): string[] => asked.map(({ kind }) => kind);
  beforeEach(async () => {
    stage = await startServer();
    asked.splice(0);
    const { port1, port2 } = new MessageChannel();
    port = port1;
    port1.on('message', (message: ToReader) => {
      asked.push(message);
      const { kind, id } = message;
      if (kind !== 'copy') return;
      port1.postMessage({ kind: 'chunk', id, body: new Uint8Array(1_000) } satisfies FromReader);
    });
    stage.server.connectReader(port2);
  });
  afterEach(async () => {
    port.close();
    await stage.server.stop();
  });

  it('of a copy of the log ends the copy that it began', async () => {
    for (let n = 0; n < 10; n += 1) {
      expect(await send(stage.port, 'HEAD', '/v1/segments')).to.include({ status: 200, text: '' });
    }
    while (kinds().filter((kind) => kind === 'end copy').length < 10) {
      await new Promise(setImmediate);
    }
    expect(kinds().filter((kind) => kind === 'copy')).to.have.length(10);
  });

  it('of a log that is followed waits for no record', async () => {
    const route = '/v1/log?follow=true&from=1';
    for (let n = 0; n < 10; n += 1) {
      expect(await send(stage.port, 'HEAD', route)).to.include({ status: 200, text: '' });
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(kinds()).to.deep.equal([]);
  });
});
