// Owns the last questions to a data directory after a proof: is the log sound by the program's own
// `verify`, by the audit, and by the history of what clients were told.

import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { EXECUTABLE } from '../../src/play/demo/processes.ts';
import { cleanEnv, type Fields, type Place } from '../support/server.ts';
import { audit } from './audit.ts';
import { compare } from './history.ts';
import type { Asked } from './traffic.ts';

export interface Verified {
  readonly digest: string;
  readonly records: number;
  readonly last_sequence: number;
}

const argsOf = (dataDir: string): string[] => [
  EXECUTABLE,
  'verify',
  '--data-dir',
  dataDir,
  '--json',
];

/** @throws AssertionError with what `verify` said, when it found anything. */
export function verify(dataDir: string): Verified {
  const options = { encoding: 'utf8', env: cleanEnv() } as const;
  const ran = spawnSync(process.execPath, argsOf(dataDir), options);
  expect(ran.status, ran.stderr).to.equal(0);
  return JSON.parse(ran.stdout) as Verified;
}

/** The same, while other things are done. @throws Error with what it said. */
async function verified(dataDir: string): Promise<Verified> {
  const options = { env: cleanEnv() };
  const { stdout } = await promisify(execFile)(process.execPath, argsOf(dataDir), options);
  return JSON.parse(stdout) as Verified;
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
  const [found, again] = await Promise.all([verified(place.dataDir), verified(place.dataDir)]);
  expect(found.last_sequence).to.be.at.least(log.length);
  expect(again.digest).to.equal(found.digest);
  return log;
}

/** @throws AssertionError with the first few of these sentences. */
export function nothingIn(wrong: readonly string[]): void {
  expect(wrong, wrong.slice(0, 3).join('\n')).to.deep.equal([]);
}
