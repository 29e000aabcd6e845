// Shows that a server which comes and goes at one address cannot lose its port to anybody.

import { readFileSync } from 'node:fs';
import net from 'node:net';
import { expect } from 'chai';
import { freePort } from '../../src/play/demo/processes.ts';
import { need } from '../reliability/machine.ts';

const RANGE = '/proc/sys/net/ipv4/ip_local_port_range';

describe('a port for a server that comes and goes', () => {
  it('is none that the system gives to a client, or to whoever asks for any', async function () {
    need(this, 'linux');
    const [first = 0, last = 0] = readFileSync(RANGE, 'utf8').trim().split(/\s+/).map(Number);
    for (let n = 0; n < 50; n += 1) {
      const port = await freePort();
      expect(port < first || port > last, `${port} of ${first} to ${last}`).to.equal(true);
    }
  });

  it('is given once, and not while somebody listens there', async () => {
    const given = new Set<number>();
    for (let n = 0; n < 20; n += 1) {
      const taken = (await freePort()) + 1;
      const server = net.createServer().listen(taken, '127.0.0.1');
      await new Promise<void>((resolve) => {
        // When it can't listen, somebody else does.
        server.once('listening', resolve).once('error', () => resolve());
      });
      const port = await freePort();
      server.close();
      expect(port).not.to.equal(taken);
      expect(given.has(port)).to.equal(false);
      given.add(port);
    }
  });
});
