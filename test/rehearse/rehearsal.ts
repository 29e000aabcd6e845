// Owns how a test rehearses a worker: with the executable, as a user would, and with its verdicts
// read from the JSON.

import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const MAIN = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));
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
  readonly scenarios: readonly {
    readonly name: string;
    readonly verdict: string | null;
    readonly faults: readonly { readonly name: string; readonly evidence: readonly string[] }[];
  }[];
}

export const faultsOf = ({ scenarios }: Pick<Told, 'scenarios'>): readonly string[] => [
  ...new Set(scenarios.flatMap(({ faults }) => faults.map(({ name }) => name))),
];

export const chosen = (...names: string[]): string[] =>
  names.flatMap((name) => ['--scenario', name]);

export async function rehearse(command: string, payload: string, ...more: string[]): Promise<Told> {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'leasehold-rehearse-test-'));
  const file = path.join(dir, 'payloads.jsonl');
  writeFileSync(file, `${payload}\n`);
  const args = [MAIN, 'rehearse', '--worker', command, '--payloads', file, '--json', ...more];
  const told = await new Promise<Told>((resolve) => {
    execFile(process.execPath, args, { maxBuffer: 2 ** 26 }, (error, out, err) => {
      const status = error === null ? 0 : Number(error.code);
      const { scenarios } = JSON.parse(out || '{"scenarios":[]}') as Pick<Told, 'scenarios'>;
      resolve({ status, err, scenarios });
    });
  });
  rmSync(dir, { recursive: true, force: true });
  return told;
}
