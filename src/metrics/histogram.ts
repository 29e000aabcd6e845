// Owns a histogram of durations or sizes. An observation costs one addition, and the data crosses
// threads as plain numbers. The formatter of the metrics makes Prometheus' cumulative form of it.

export interface HistogramData {
  /** Upper bounds, ascending; the last count is of what lies beyond them. */
  readonly bounds: readonly number[];
  readonly counts: readonly number[];
  readonly sum: number;
}

/** Seconds, from a tenth of a millisecond to a minute. */
export const SECONDS: readonly number[] = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
  30, 60,
];
/** Seconds that something may wait in a queue, to a day. */
export const LONG_SECONDS: readonly number[] = [
  0.001, 0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60, 300, 900, 3_600, 14_400, 86_400,
];
/** Records in a group. */
export const SIZES: readonly number[] = [
  1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 2_048, 4_096,
];

export class Histogram implements HistogramData {
  readonly bounds: readonly number[];
  readonly counts: number[];
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  observe(value: number): void {
    let place = 0;
    while (place < this.bounds.length && value > (this.bounds[place] as number)) place += 1;
    this.counts[place] = (this.counts[place] as number) + 1;
    this.sum += value;
  }

  data(): HistogramData {
    return { bounds: this.bounds, counts: [...this.counts], sum: this.sum };
  }
}
