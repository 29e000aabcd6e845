// What is believed of the metrics of a member of etcd.

import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { memberQuota } from '../../../src/log/etcd/member-quota.ts';

const LINE = 'etcd_server_quota_backend_bytes';

async function asked(
  answer: (reply: http.ServerResponse) => void,
  ms = 5_000,
): Promise<number | undefined> {
  const server = http.createServer((request, reply) => {
    expect(request.url).to.equal('/metrics');
    answer(reply);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const { port } = server.address() as AddressInfo;
    return await memberQuota(`http://127.0.0.1:${port}`, {}, ms);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

describe('the quota of a member of etcd', () => {
  it('is what its metrics say', async () => {
    const text = `# HELP ${LINE} Size.\n# TYPE ${LINE} gauge\n${LINE} 1.6777216e+07\nother 7\n`;
    expect(await asked((reply) => reply.end(text))).to.equal(16_777_216);
  });

  it('is not known when they do not say it', async () => {
    for (const text of ['', `${LINE} 0\n`, `${LINE} many\n`, `x${LINE} 7\n`]) {
      expect(await asked((reply) => reply.end(text)), text).to.equal(undefined);
    }
    expect(await asked((reply) => reply.destroy())).to.equal(undefined);
    const begun = (reply: http.ServerResponse) => {
      reply.write(`${LINE} 7`);
      setImmediate(() => reply.destroy());
    };
    expect(await asked(begun)).to.equal(undefined);
    expect(await memberQuota('http://127.0.0.1:1', {}, 2_000)).to.equal(undefined);
  });

  it('is not waited for endlessly, whatever comes', async () => {
    const endless = (reply: http.ServerResponse) => {
      const more = (): void => {
        while (!reply.destroyed && reply.write('x'.repeat(100_000)));
      };
      reply.on('drain', more);
      more();
    };
    expect(await asked(endless)).to.equal(undefined);
    expect(await asked(() => {}, 50)).to.equal(undefined);
  });
});
