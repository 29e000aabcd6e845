// How a body may be coded on its way: in chunks, and in no other way.

import { expect } from 'chai';
import { type Stage, startServer, until, Wire } from './http-support.ts';

describe('a body that was coded for its way', () => {
  let stage: Stage;
  beforeEach(async () => {
    stage = await startServer();
  });
  afterEach(() => stage.server.stop());

  const answerTo = async (coding: string): Promise<string> => {
    const wire = await Wire.open(stage.port);
    wire.write(
      'POST /v1/queues/q/tasks HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n' +
        `transfer-encoding: ${coding}\r\n\r\n1\r\nx\r\n0\r\n\r\n`,
    );
    await until(() => wire.closed, 'the connection was closed');
    return wire.text;
  };

  it('is taken when it came in chunks', async () => {
    for (const coding of ['chunked', 'Chunked']) await answerTo(coding);
    const payloads = stage.coordinator.asked.map(({ request }) => 'payload' in request);
    expect(payloads).to.deep.equal([true, true]);
  });

  it('is refused when it is compressed besides, and not stored as it came', async () => {
    expect(await answerTo('gzip, chunked')).to.include(' 415 ');
    expect(stage.coordinator.asked).to.have.length(0);
  });
});
