// Owns the last questions to a data directory after a proof: is the log sound by the program's own
// `verify`, by the audit, and by the history of what clients were told.

import { expect } from 'chai';
import { logOffline } from '../../src/cli/offline-log.ts';
import { command } from '../support/command.ts';
import { cleanEnv, type Fields, type Place } from '../support/server.ts';
import { isPlayed } from '../support/tier.ts';
import { audit } from './audit.ts';
import { compare } from './history.ts';
import type { Asked } from './traffic.ts';

export interface Verified {
  readonly digest: string;
  readonly records: number;
  readonly last_sequence: number;
}

/** What follows the reading of a log; a start takes longer than all else here. */
const LOOKS = ['a start', 'no more', 'no more'];

/** @throws AssertionError with what `verify` said, when it found anything. */
export async function verify(dataDir: string): Promise<Verified> {
  const ran = await command(['verify', '--data-dir', dataDir, '--json'], { env: cleanEnv() });
  expect(ran.code, ran.err).to.equal(0);
  return JSON.parse(ran.out) as Verified;
}

/** All records, read without a server. */
export async function recordsIn(dataDir: string): Promise<Fields[]> {
  const found: Fields[] = [];
  const all = { from: 1, limit: Number.MAX_SAFE_INTEGER };
  await logOffline(all, { dataDir }, process, (record) => found.push(record));
  return found;
}

/**
 * Holds everything against the log: nothing may be wrong, two readings of it give one state, and a
 * server starts on it and shows the same.
 * @returns the log, before that start.
 */
export async function holdsAll(place: Place, history: readonly Asked[]): Promise<Fields[]> {
  const log = await recordsIn(place.dataDir);
  nothingIn(audit(log));
  nothingIn(compare(history, log));
  const found = await verify(place.dataDir);
  expect(found.last_sequence).to.be.at.least(log.length);
  if (!isPlayed('a start', LOOKS)) return log;
  expect((await verify(place.dataDir)).digest).to.equal(found.digest);
  const server = await place.serve({ args: ['--log-level', 'warn'] }).ready();
  const shown = await server.records();
  expect(shown.slice(0, log.length), 'what a server shows').to.deep.equal(log);
  expect(await server.stop()).to.deep.equal({ code: 0, signal: null });
  nothingIn(audit(shown));
  await verify(place.dataDir);
  return log;
}

/** @throws AssertionError with the first few of these sentences. */
export function nothingIn(wrong: readonly string[]): void {
  expect(wrong, wrong.slice(0, 3).join('\n')).to.deep.equal([]);
}
