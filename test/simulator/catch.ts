// Owns the question whether the simulator catches a planted fault: seed after seed until one fails.

import type { Fault } from './faults.ts';
import { plantIn } from './plant.ts';
import type { Run } from './run.ts';
import { type Settings, settingsOf } from './settings.ts';

export interface Caught {
  readonly checker: string;
  readonly message: string;
  readonly seed: number;
  /** Records of all seeds until it was caught. */
  readonly records: number;
}

/** Which simulator plays: its module, what it exports, and its settings of a seed. */
export interface Player {
  readonly entry: string;
  readonly name: string;
  readonly settingsOf: (seed: number, records: number) => Settings;
}

const SIMPLE: Player = { entry: 'test/simulator/run.js', name: 'run', settingsOf };
type Playing = Readonly<Record<string, (settings: Settings) => Promise<Run>>>;

/** @returns how it was caught, or undefined: it was not, in so many records. */
export async function catchFault(
  fault: Fault,
  number: number,
  firstSeed: number,
  limit: number,
  player = SIMPLE,
): Promise<Caught | undefined> {
  const planted = await plantIn<Playing>(fault, number, player.entry);
  const play = planted.module[player.name];
  if (play === undefined) throw new Error(`${player.entry} has no ${player.name}`);
  try {
    let records = 0;
    for (let seed = firstSeed; records < limit; seed += 1) {
      const result = await play(player.settingsOf(seed, 2_000));
      records += result.records;
      if (result.failure !== undefined) {
        return { ...result.failure, seed, records };
      }
    }
    return undefined;
  } finally {
    planted.remove();
  }
}
