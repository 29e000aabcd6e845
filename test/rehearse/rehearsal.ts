// Owns how a test rehearses a worker: with the executable, as a user would, or in the test's own
// process with a coordinator that starts in no time.

import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { EXECUTABLE } from '../../src/play/demo/processes.ts';
import { CleanUp } from '../../src/rehearse/clean-up.ts';
import { rehearse as play } from '../../src/rehearse/rehearse.ts';
import { isFailure, reportJson } from '../../src/rehearse/report.ts';
import { isMachineBusy } from '../../src/rehearse/slow-machine.ts';
import { MemoryCoordinator } from './memory-coordinator.ts';

const LEASE_MS = 2_000;
const SOURCES = fileURLToPath(new URL('../../../test/rehearse/workers/', import.meta.url));

export const pool = (...args: string[]): string =>
  `exec python3 ${SOURCES}pool.py ${args.join(' ')}`;
export const lines = (fault = ''): string => `exec node ${SOURCES}lines.mjs ${fault}`;
export const curl = (fault = ''): string => `exec bash ${SOURCES}curl.sh ${fault}`;
export const byHand = (fault = ''): string => `exec node ${SOURCES}by-hand.mjs ${fault}`;
export const careful = (): string => `exec node ${SOURCES}careful.mjs`;

export interface Told {
  readonly status: number;
  readonly err: string;
  readonly seed: number | undefined;
  readonly scenarios: readonly {
    readonly name: string;
    readonly verdict: string | null;
    readonly faults: readonly { readonly name: string; readonly evidence: readonly string[] }[];
  }[];
}

const readJson = (text: string): Pick<Told, 'scenarios' | 'seed'> =>
  JSON.parse(text || '{"scenarios":[]}') as Pick<Told, 'scenarios' | 'seed'>;

export const faultsOf = ({ scenarios }: Pick<Told, 'scenarios'>): readonly string[] => [
  ...new Set(scenarios.flatMap(({ faults }) => faults.map(({ name }) => name))),
];

export const chosen = (...names: string[]): string[] =>
  names.flatMap((name) => ['--scenario', name]);

/** With the executable. */
export async function rehearse(command: string, payload: string, ...more: string[]): Promise<Told> {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'leasehold-rehearse-test-'));
  const file = path.join(dir, 'payloads.jsonl');
  writeFileSync(file, `${payload}\n`);
  const args = [EXECUTABLE, 'rehearse', '--worker', command, '--payloads', file, '--json', ...more];
  const told = await new Promise<Told>((resolve) => {
    execFile(process.execPath, args, { maxBuffer: 2 ** 26 }, (error, out, err) => {
      const status = error === null ? 0 : Number(error.code);
      resolve({ status, err, ...readJson(out) });
    });
  });
  rmSync(dir, { recursive: true, force: true });
  return told;
}

export interface HereOptions {
  readonly payload?: string;
  readonly queue?: string;
  /** Whether there is a ledger. */
  readonly effects?: boolean;
  readonly seed?: number;
  readonly scenarios: readonly string[];
  readonly isBusy?: () => boolean;
}

/** In this process, with scenarios in which nobody kills the coordinator. */
export async function rehearseHere(command: string, options: HereOptions): Promise<Told> {
  const { payload = '{"a":1}', queue = 'default', effects = true, seed = 1 } = options;
  const { scenarios, isBusy = isMachineBusy } = options;
  const cleanUp = new CleanUp();
  try {
    const results = await play({
      command,
      queue,
      payloads: [payload],
      leaseMs: LEASE_MS,
      seed,
      ledger: effects ? { refusesOldTokens: false } : undefined,
      names: scenarios,
      isBusy,
      cleanUp,
      openCoordinator: MemoryCoordinator.open,
    });
    const status = results.some(isFailure) ? 1 : 0;
    return { status, err: '', ...readJson(reportJson(results, seed)) };
  } finally {
    await cleanUp.close();
  }
}

/**
 * As rehearseHere, with a worker that must be convicted. What a rehearsal finds on a busy machine
 * it looks at again, with longer leases. For a fault that is there that takes long and changes
 * nothing, so it is done only when something else was found than what must be.
 */
export async function rehearseBad(
  command: string,
  options: HereOptions,
  isFound: (told: Told) => boolean,
): Promise<Told> {
  const told = await rehearseHere(command, { ...options, isBusy: () => false });
  return isFound(told) || !isMachineBusy() ? told : rehearseHere(command, options);
}
