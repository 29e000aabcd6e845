// Owns the last questions to a data directory after a proof: is the log sound by the program's own
// `verify`, by the audit, and by the history of what clients were told.

import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { EXECUTABLE } from '../../src/demo/processes.ts';
import { cleanEnv } from '../e2e/support.ts';
import { audit } from './audit.ts';
import { compare } from './history.ts';
import type { Fields, Place } from './server.ts';
import type { Asked } from './traffic.ts';

export interface Verified {
  readonly digest: string;
  readonly records: number;
  readonly last_sequence: number;
}

/** @throws AssertionError with what `verify` said, when it found anything. */
export function verify(dataDir: string): Verified {
  const args = [EXECUTABLE, 'verify', '--data-dir', dataDir, '--json'];
  const ran = spawnSync(process.execPath, args, { encoding: 'utf8', env: cleanEnv() });
  expect(ran.status, ran.stderr).to.equal(0);
  return JSON.parse(ran.stdout) as Verified;
}

/**
 * Starts a server once more and holds everything against its log: nothing may be wrong, and two
 * readings of it give one state.
 * @returns the log.
 */
export async function holdsAll(place: Place, history: readonly Asked[]): Promise<Fields[]> {
  const server = await place.serve({ args: ['--log-level', 'warn'] }).ready();
  const log = await server.records();
  expect(await server.stop()).to.deep.equal({ code: 0, signal: null });
  nothingIn(audit(log));
  nothingIn(compare(history, log));
  const found = verify(place.dataDir);
  expect(found.last_sequence).to.be.at.least(log.length);
  expect(verify(place.dataDir).digest).to.equal(found.digest);
  return log;
}

/** @throws AssertionError with the first few of these sentences. */
export function nothingIn(wrong: readonly string[]): void {
  expect(wrong, wrong.slice(0, 3).join('\n')).to.deep.equal([]);
}
