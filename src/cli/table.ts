// Owns how rows become a table that fits a width: columns under their heads, and long names cut in
// the middle. Widths are those of the terminal: a wide character counts two, a mark counts none.

import stringWidth from 'string-width';
import { lineText } from '../model/safe-text.ts';

export interface Column<T> {
  readonly head: string;
  readonly value: (row: T) => string;
  readonly isNumber?: boolean;
  /** The column may be cut down to so many places. Absent: its values are always whole. */
  readonly least?: number;
}

export interface FittedTable {
  /** The head first; no line is wider than was asked for. */
  readonly lines: readonly string[];
  /** Whether a value was cut. */
  readonly isCut: boolean;
}

const GAP = '  ';
/** A text from right to left turns the columns after it around, unless this mark ends it. */
const LEFT_TO_RIGHT_MARK = '\u200e';
const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}]/u;
const segmenter = new Intl.Segmenter('en');

/** Places that a text takes on a terminal. */
export const widthOf = (text: string): number => stringWidth(text);

/** @returns the text with its middle left out where it is wider than `width`. */
export function cutMiddle(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  const signs = [...segmenter.segment(text)].map(({ segment }) => segment);
  let left = '';
  let right = '';
  // The end of a name tells more often than its middle which one it is.
  for (let from = 0, to = signs.length - 1; from < to; ) {
    const isLeft = widthOf(left) <= widthOf(right);
    const sign = signs[isLeft ? from : to] as string;
    if (widthOf(left) + widthOf(right) + widthOf(sign) + 1 > width) break;
    if (isLeft) left += sign;
    else right = sign + right;
    if (isLeft) from += 1;
    else to -= 1;
  }
  return `${left}…${right}`;
}

/** @returns the text without its end where it is wider than `width`. */
export function cutEnd(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let kept = '';
  for (const { segment } of segmenter.segment(text)) {
    if (widthOf(kept) + widthOf(segment) + 1 > width) break;
    kept += segment;
  }
  return `${kept}…`;
}

export function fittedTable<T>(
  columns: readonly Column<T>[],
  rows: readonly T[],
  width: number,
): FittedTable {
  const cells = rows.map((row) => columns.map(({ value }) => lineText(value(row))));
  const wanted = columns.map(({ head }, at) =>
    Math.max(widthOf(head), ...cells.map((row) => widthOf(row[at] as string))),
  );
  const widths = shrunk(columns, wanted, width);
  const isCut = widths.some((each, at) => each < (wanted[at] as number));
  const lineOf = (row: readonly string[]): string => {
    const line = row.map((text, at) => {
      const { isNumber = false, least } = columns[at] as Column<T>;
      const place = widths[at] as number;
      const shown = least === undefined ? text : cutMiddle(text, place);
      return padded(shown, place, isNumber);
    });
    return cutEnd(line.join(GAP).trimEnd(), width);
  };
  return { lines: [columns.map(({ head }) => head), ...cells].map(lineOf), isCut };
}

function padded(text: string, width: number, isNumber: boolean): string {
  const space = ' '.repeat(Math.max(0, width - widthOf(text)));
  const shown = RIGHT_TO_LEFT.test(text) ? `${text}${LEFT_TO_RIGHT_MARK}` : text;
  return isNumber ? `${space}${shown}` : `${shown}${space}`;
}

/** Takes places from the widest of the columns that may be cut, until the line fits. */
function shrunk<T>(columns: readonly Column<T>[], wanted: readonly number[], width: number) {
  const widths = [...wanted];
  let over = widths.reduce((sum, each) => sum + each, GAP.length * (columns.length - 1)) - width;
  for (; over > 0; over -= 1) {
    let widest = -1;
    columns.forEach(({ least }, at) => {
      const isFree = least !== undefined && (widths[at] as number) > least;
      if (isFree && (widest === -1 || (widths[at] as number) > (widths[widest] as number))) {
        widest = at;
      }
    });
    if (widest === -1) break;
    widths[widest] = (widths[widest] as number) - 1;
  }
  return widths;
}
