// Owns choosing the first rows of a long list in an order, without sorting the rest of the list,
// and the places by which a list is read page after page.

/** Where a row stands: by a number, the smallest first, and by its name where numbers are equal. */
export interface Place {
  readonly value: number;
  readonly name: string;
  /** When the number was looked at, where it becomes another one by itself as time passes. */
  readonly asOf?: number | undefined;
}

/** @returns whether one place stands before another. */
export function isBefore(a: Place, b: Place): boolean {
  return a.value === b.value ? a.name < b.name : a.value < b.value;
}

/** The text of a place, from which a client goes on: `12/mail`, or `12@1700000000000/mail`. */
export const placeText = ({ value, name, asOf }: Place): string =>
  `${value}${asOf === undefined ? '' : `@${asOf}`}/${name}`;

/** @returns the place that a text names, or undefined when it names none. */
export function readPlace(text: string): Place | undefined {
  const parts = /^(-?\d{1,20}(?:\.\d{1,20})?)(?:@(\d{1,15}))?\/(.+)$/su.exec(text);
  if (parts === null) return undefined;
  const [, value, asOf, name] = parts as unknown as [string, string, string | undefined, string];
  return { value: Number(value), name, ...(asOf !== undefined && { asOf: Number(asOf) }) };
}

/** Takes rows in any order and keeps the first `limit` of them. */
export class FirstRows<T extends Place> {
  private readonly limit: number;
  private readonly after: Place | undefined;
  private rows: T[] = [];
  /** The last row of a full page: a row that stands behind it is on no page before the next. */
  private last: T | undefined;
  private leftOut = 0;

  /** @param after rows up to this place are not taken: they were on the pages before. */
  constructor(limit: number, after?: Place) {
    this.limit = limit;
    this.after = after;
  }

  add(row: T): void {
    if (this.after !== undefined && !isBefore(this.after, row)) return;
    if (this.last !== undefined && isBefore(this.last, row)) {
      this.leftOut += 1;
      return;
    }
    this.rows.push(row);
    // Sorting now and then costs less than keeping the order at each row.
    if (this.rows.length >= 2 * this.limit + 100) this.cut();
  }

  /** @returns the rows in order, and how many stand behind them. */
  page(): { readonly rows: readonly T[]; readonly leftOut: number } {
    this.cut();
    return { rows: this.rows, leftOut: this.leftOut };
  }

  private cut(): void {
    this.rows.sort((a, b) => (isBefore(a, b) ? -1 : 1));
    if (this.rows.length <= this.limit) return;
    this.leftOut += this.rows.length - this.limit;
    this.rows.length = this.limit;
    this.last = this.rows[this.limit - 1];
  }
}
