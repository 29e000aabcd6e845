// Owns what is told of a run that failed: its last steps, kept as they were and put into words only
// when somebody wants to read them.

import { text } from './checkers/same.ts';

const KEPT = 400;

interface Line {
  readonly at: number;
  readonly what: string;
  readonly details: readonly unknown[];
}

export class Transcript {
  private readonly lines: Line[] = [];
  private written = 0;

  add(at: number, what: string, ...details: readonly unknown[]): void {
    this.lines[this.written % KEPT] = { at, what, details };
    this.written += 1;
  }

  /** The newest lines, the newest last. */
  words(count: number): string {
    const shown: string[] = [];
    for (let n = Math.max(0, this.written - Math.min(count, KEPT)); n < this.written; n += 1) {
      const line = this.lines[n % KEPT] as Line;
      const details = line.details.map((detail) =>
        typeof detail === 'string' ? detail : text(detail).slice(0, 600),
      );
      shown.push(`${String(line.at).padStart(10)} ms  ${line.what} ${details.join(' ')}`);
    }
    return shown.join('\n');
  }
}
