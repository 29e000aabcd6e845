// Owns the comparison of states: what a served program held in its memory, in a copy of it that
// writes down the digest when it begins and stops to serve, against an offline replay of the log.

import fs from 'node:fs';
import path from 'node:path';
import { applyChecked } from '../../src/core/apply.ts';
import { stateDigest } from '../../src/core/digest.ts';
import { State } from '../../src/core/state.ts';
import { openLmdbReader } from '../../src/log/lmdb-reader.ts';
import { type CompiledFiles, type Patch } from '../support/planted.ts';
import { digestText } from '../support/world.ts';

const CAN_TELL = 'export function stateDigest(';
const READY = "say({ kind: 'ready',";

/** @param file gets a line for each beginning and each end: the newest record, and the digest. */
export function tellsDigests(file: string): readonly Patch[] {
  const tell =
    `tell.appendFileSync(${JSON.stringify(file)}, ` +
    '`${this.loop.view.state.lastSeq} ${digestOfState(this.loop.view.state)}\\n`);';
  const before = (text: string): Patch => ({ from: text, to: `${tell} ${text}` });
  return [before(READY), before('await this.store.close();'), { beside: READY, add: imports }];
}

const imports = (files: CompiledFiles): string => {
  const from = path.dirname(files.fileOf(READY));
  const digest = path.relative(from, files.fileOf(CAN_TELL));
  return (
    "import * as tell from 'node:fs';\n" +
    `import { stateDigest as digestOfState } from '${digest}';`
  );
};

/** @returns a sentence for each state that the log does not lead to, and how many there were. */
export async function otherStates(
  file: string,
  dataDir: string,
): Promise<{ told: number; wrong: string[] }> {
  const lines = fs.readFileSync(file, 'utf8').split('\n').slice(0, -1);
  const bySeq = new Map<number, string[]>();
  for (const line of lines) {
    const [seq, digest] = line.split(' ') as [string, string];
    bySeq.set(Number(seq), [...(bySeq.get(Number(seq)) ?? []), digest]);
  }
  const wrong: string[] = [];
  const state = new State(digestText);
  const log = await openLmdbReader(dataDir);
  for (const record of log.read(1)) {
    applyChecked(state, record);
    const told = bySeq.get(record.seq) ?? [];
    bySeq.delete(record.seq);
    const digest = told.length === 0 ? '' : stateDigest(state);
    for (const other of told) {
      if (other !== digest) wrong.push(`after record ${record.seq}: ${other}, not ${digest}`);
    }
  }
  await log.close();
  for (const seq of bySeq.keys()) wrong.push(`record ${seq} is gone, a state was made of it`);
  return { told: lines.length, wrong };
}
