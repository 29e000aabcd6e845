// Owns what is told of a run that failed: its last steps, kept as they were and put into words only
// when somebody wants to read them.

import { text } from './checkers/same.ts';

const KEPT = 400;

interface Line {
  at: number;
  what: string;
  first: unknown;
  second: unknown;
}

export class Transcript {
  /** Written over in turn: several are added for every record, and few are ever read. */
  private readonly lines: readonly Line[] = Array.from({ length: KEPT }, () => {
    return { at: 0, what: '', first: undefined, second: undefined };
  });
  private written = 0;

  add(at: number, what: string, first?: unknown, second?: unknown): void {
    const line = this.lines[this.written % KEPT] as Line;
    line.at = at;
    line.what = what;
    line.first = first;
    line.second = second;
    this.written += 1;
  }

  /** The newest lines, the newest last. */
  words(count: number): string {
    const shown: string[] = [];
    for (let n = Math.max(0, this.written - Math.min(count, KEPT)); n < this.written; n += 1) {
      const line = this.lines[n % KEPT] as Line;
      const details = [line.first, line.second]
        .filter((detail) => detail !== undefined)
        .map((detail) => (typeof detail === 'string' ? detail : text(detail).slice(0, 600)));
      shown.push(`${String(line.at).padStart(10)} ms  ${line.what} ${details.join(' ')}`);
    }
    return shown.join('\n');
  }
}
