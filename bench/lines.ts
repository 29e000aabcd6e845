// Owns the picture of a long run: one panel a series, time to the right, the two stretches that are
// compared shaded, in SVG. It judges nothing.

import { escaped } from './plot.ts';

export interface Line {
  readonly name: string;
  readonly unit: string;
  /** At equal distances in time; NaN where there is none. */
  readonly values: readonly number[];
  readonly isFlat: boolean;
}

const WIDTH = 900;
const HEIGHT = 110;
const LEFT = 70;
const TOP = 34;
/** More points than this cannot be told apart. */
const POINTS_MAX = 900;

/** @returns a whole SVG document. */
export function plotLines(title: string, lines: readonly Line[]): string {
  const panels = lines.map((line, at) => panel(line, TOP + at * (HEIGHT + 24)));
  const height = TOP + lines.length * (HEIGHT + 24);
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH + LEFT + 10}" height="${height}" ` +
    `font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="white"/>` +
    `<text x="10" y="18" font-size="14">${escaped(title)}</text>${panels.join('')}</svg>\n`
  );
}

function panel({ name, unit, values, isFlat }: Line, top: number): string {
  const each = Math.max(1, Math.ceil(values.length / POINTS_MAX));
  const points = values.flatMap((value, at) =>
    at % each === 0 && Number.isFinite(value) ? [[at, value] as const] : [],
  );
  const most = Math.max(...points.map(([, value]) => value), 1e-9);
  const x = (at: number): string => (LEFT + (at / Math.max(1, values.length)) * WIDTH).toFixed(1);
  const y = (value: number): string => (top + HEIGHT - (value / most) * HEIGHT).toFixed(1);
  const quarter = Math.floor(values.length / 4);
  const shade = (from: number): string =>
    `<rect x="${x(from)}" y="${top}" width="${WIDTH / 4}" height="${HEIGHT}" fill="#eef1f4"/>`;
  const colour = isFlat ? '#3b8c5a' : '#c0563f';
  const drawn = points.map(([at, value]) => `${x(at)},${y(value)}`).join(' ');
  return (
    `<text x="${LEFT}" y="${top - 4}">${escaped(`${name}, ${unit}`)}</text>` +
    `${shade(quarter)}${shade(3 * quarter)}` +
    `<path d="M${LEFT} ${top}V${top + HEIGHT}H${LEFT + WIDTH}" fill="none" stroke="black"/>` +
    `<text x="${LEFT - 6}" y="${top + 10}" text-anchor="end">${most.toPrecision(3)}</text>` +
    `<text x="${LEFT - 6}" y="${top + HEIGHT}" text-anchor="end">0</text>` +
    `<polyline points="${drawn}" fill="none" stroke="${colour}"/>`
  );
}
