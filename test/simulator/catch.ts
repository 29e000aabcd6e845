// Owns the question whether the simulator catches a planted fault: seed after seed until one fails.

import type { Fault } from './faults.ts';
import { plant } from './plant.ts';
import { settingsOf } from './settings.ts';

export interface Caught {
  readonly checker: string;
  readonly message: string;
  readonly seed: number;
  /** Records of all seeds until it was caught. */
  readonly records: number;
}

/** @returns how it was caught, or undefined: it was not, in so many records. */
export async function catchFault(
  fault: Fault,
  number: number,
  firstSeed: number,
  limit: number,
): Promise<Caught | undefined> {
  const planted = await plant(fault, number);
  try {
    let records = 0;
    for (let seed = firstSeed; records < limit; seed += 1) {
      const result = await planted.run(settingsOf(seed, 2_000));
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
