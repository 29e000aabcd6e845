// Owns ports for servers that come and go at one address. They are none of those that the system
// gives to whoever asks for any: while such a server is down, a client's connection or another
// test could get its port. Each test process claims a block of ports for itself while it lives, so
// that tests which run at the same time, in any folder, never start two servers at one address.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { tryPort } from '../../src/play/demo/processes.ts';

/** Below what systems give out themselves, and below what stories and rehearsals take. */
const FIRST = 10_000;
const BLOCKS = 50;
const BLOCK_PORTS = 200;
const CLAIMS = path.join(os.tmpdir(), 'leasehold-test-ports');

let block: number | undefined;
let taken = 0;

/** @returns a port that is free, and that this process has not taken for a long time. */
export async function ownPort(): Promise<number> {
  block ??= claimBlock();
  for (let tries = 0; tries < BLOCK_PORTS; tries += 1) {
    const port = FIRST + block * BLOCK_PORTS + (taken % BLOCK_PORTS);
    taken += 1;
    if (await tryPort(port).catch(() => undefined)) return port;
  }
  throw new Error('no port is free');
}

function claimBlock(): number {
  fs.mkdirSync(CLAIMS, { recursive: true });
  for (let tries = 0; tries < BLOCKS; tries += 1) {
    const candidate = (process.pid + tries) % BLOCKS;
    if (claims(path.join(CLAIMS, `${candidate}`))) return candidate;
  }
  throw new Error(`all blocks of ports are claimed: ${CLAIMS}`);
}

/** @returns whether the claim is ours now; that of a process which has ended does not count. */
function claims(file: string): boolean {
  const own = `${process.pid}`;
  try {
    fs.writeFileSync(file, own, { flag: 'wx' });
  } catch {
    if (isHeld(file)) return false;
    fs.writeFileSync(file, own);
  }
  // Two may have found the same old claim: the last one to write has the block.
  if (fs.readFileSync(file, 'utf8') !== own) return false;
  process.once('exit', () => fs.rmSync(file, { force: true }));
  return true;
}

/** A claim that is just being written, or taken back, is left alone. */
function isHeld(file: string): boolean {
  try {
    const pid = Number(fs.readFileSync(file, 'utf8'));
    if (pid > 0) process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
