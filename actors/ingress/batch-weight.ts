// Owns how heavy an answer is before anybody knows it, and how heavy the answers of one batch may
// be together, on either port: all are held until the last one is there.

/** A unit stands for some 16 KiB. */
export const BATCH_WEIGHT_MAX = 16_384;
const LEASE_WEIGHT = 8;
const LEASES_WEIGHT_MAX = 256;

/** Of the tasks that a lease request may be given at most, beside the 1 that each answer weighs. */
export const weightOfLeases = (max: number): number =>
  Math.min(LEASE_WEIGHT * max, LEASES_WEIGHT_MAX);

/** What the answers of one batch may still weigh. */
export class BatchWeight {
  #left = BATCH_WEIGHT_MAX;

  /** @returns whether an answer of this weight has room; if it has, the room is taken. */
  takes(weight: number): boolean {
    if (weight > this.#left) return false;
    this.#left -= weight;
    return true;
  }
}
