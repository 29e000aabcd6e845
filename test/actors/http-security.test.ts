// Shows each attack on the HTTP port first, as it would look without its defence, then that it gets
// nothing: no request reaches the mailbox, and the refusal is a problem document.

import { expect } from 'chai';
import { guardOf } from '../../actors/http/guard.ts';
import {
  type Decide,
  type Reply,
  type Stage,
  send,
  startServer,
  until,
  Wire,
} from './http-support.ts';

const killed: Decide = () => ({ kind: 'committed', taskState: 'DEAD', record: 9 });
const KILL = '/v1/tasks/T4/kill';

describe('a web page in a browser on the same machine', () => {
  let stage: Stage;
  before(async () => {
    stage = await startServer({ decide: killed });
  });
  after(() => stage.server.stop());

  it('would kill tasks: the same request without its marks is obeyed', async () => {
    const reply = await send(stage.port, 'POST', KILL, '{"reason":"x"}', {
      'content-type': 'text/plain',
    });
    expect(reply).to.include({ status: 200 });
    expect(stage.coordinator.asked.pop()?.request).to.include({ op: 'kill', taskId: 4 });
  });

  const marks: readonly Record<string, string>[] = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'http://127.0.0.1:5327' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { host: 'evil.example' },
    { host: 'evil.example:5327' },
    { host: '127.0.0.1.evil.example' },
    { host: 'localhost.evil.example' },
    { host: '10.0.0.7' },
    { host: '[fe80::1]:80' },
  ];
  for (const mark of marks) {
    it(`is refused for ${JSON.stringify(mark)}`, async () => {
      const reply = await send(stage.port, 'POST', KILL, '{"reason":"x"}', mark);
      expect(reply).to.include({ status: 403, type: 'application/problem+json; charset=utf-8' });
      expect(reply.json).to.include({ outcome: 'REJECTED', reason: 'forbidden' });
      expect(stage.coordinator.asked).to.deep.equal([]);
    });
  }

  it('is refused before its body is read', async () => {
    const wire = await Wire.open(stage.port);
    wire.write(
      `POST ${KILL} HTTP/1.1\r\nhost: localhost\r\norigin: https://evil.example\r\n` +
        'content-length: 60000\r\n\r\n',
    );
    await until(() => wire.text.includes('"reason":"forbidden"'), 'the refusal came');
    expect(wire.text).to.match(/^HTTP\/1\.1 403 /);
    wire.socket.destroy();
  });

  it('sees health, which tells nothing', async () => {
    const reply = await send(stage.port, 'GET', '/livez', undefined, { host: 'evil.example' });
    expect(reply).to.include({ status: 200 });
  });

  const fine: readonly Record<string, string>[] = [
    { host: 'localhost:1' },
    { host: 'LOCALHOST' },
    { host: 'leasehold.localhost' },
    { host: '127.0.0.1' },
    { host: '127.8.9.10:80' },
    { host: '[::1]:5327' },
    { 'sec-fetch-site': 'none' },
    { 'sec-fetch-site': 'same-origin' },
  ];
  for (const headers of fine) {
    it(`is not what sends ${JSON.stringify(headers)}`, async () => {
      const reply = await send(stage.port, 'POST', KILL, undefined, headers);
      expect(reply).to.include({ status: 200 });
      stage.coordinator.asked.pop();
    });
  }

  it('does not hide behind the configured name', () => {
    const guard = guardOf(undefined, 'Tasks.Example.ORG');
    expect(guard({ host: 'tasks.example.org:80' })).to.equal(undefined);
    expect(guard({ host: 'example.org' })).to.include({ reason: 'forbidden' });
  });
});

describe('a network that is not trusted', () => {
  let stage: Stage;
  before(async () => {
    stage = await startServer({ decide: killed, config: { token: 'secret-abc' } });
  });
  after(() => stage.server.stop());
  const kill = (headers: Record<string, string>, path = KILL): Promise<Reply> =>
    send(stage.port, 'POST', path, '{"reason":"x"}', headers);

  it('gets in with the token only', async () => {
    const reply = await kill({ authorization: 'Bearer secret-abc' });
    expect(reply).to.include({ status: 200 });
    expect(await kill({ authorization: 'bearer  secret-abc' })).to.include({ status: 200 });
    stage.coordinator.asked.length = 0;
  });

  const wrong = [
    '',
    'secret-abc',
    'Bearer',
    'Bearer secret-abd',
    'Bearer secret-abc x',
    'Basic c2VjcmV0LWFiYw==',
  ];
  for (const authorization of wrong) {
    it(`is refused with ${JSON.stringify(authorization)}`, async () => {
      const reply = await kill(authorization === '' ? {} : { authorization });
      expect(reply).to.include({ status: 401, type: 'application/problem+json; charset=utf-8' });
      expect(reply.headers['www-authenticate']).to.equal('Bearer');
      expect(reply.json).to.include({ outcome: 'REJECTED', reason: 'unauthorized' });
      expect(stage.coordinator.asked).to.deep.equal([]);
    });
  }

  it('learns nothing about which routes there are', async () => {
    expect(await kill({}, '/v1/nothing')).to.include({ status: 401 });
    expect(await send(stage.port, 'GET', '/metrics')).to.include({ status: 401 });
    expect(await send(stage.port, 'GET', '/livez?x=1')).to.include({ status: 401 });
  });

  it('sees health without it', async () => {
    expect(await send(stage.port, 'GET', '/livez')).to.include({ status: 200 });
    expect(await send(stage.port, 'GET', '/readyz')).to.include({ status: 200 });
  });

  it('may use a browser and any name: the token decides', async () => {
    const headers = { authorization: 'Bearer secret-abc', origin: 'https://a.example', host: 'b' };
    expect(await kill(headers)).to.include({ status: 200 });
  });
});
