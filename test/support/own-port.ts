// Owns ports for servers that come and go at one address. They are none of those that the system
// gives to whoever asks for any: while such a server is down, a client's connection or another
// test could get its port. Test processes that run at the same time take them from other blocks.

import { tryPort } from '../../src/play/demo/processes.ts';

/** Below what systems give out themselves: 32768 and more on Linux. */
const FIRST = 10_000;
const BLOCKS = 40;
const BLOCK_PORTS = 500;

let taken = 0;

/** @returns a port that is free, and that this process has not taken for a long time. */
export async function ownPort(): Promise<number> {
  for (let tries = 0; tries < BLOCK_PORTS; tries += 1) {
    const port = FIRST + (process.pid % BLOCKS) * BLOCK_PORTS + (taken % BLOCK_PORTS);
    taken += 1;
    if (await tryPort(port).catch(() => undefined)) return port;
  }
  throw new Error('no port is free');
}
