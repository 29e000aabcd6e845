// Owns the picture of a result: one bar a row, its range as a whisker, one block for each unit, in
// SVG. Bars grow with the logarithm, because a bench spans orders of magnitude.

import type { Row } from './harness.ts';

const LABEL = 430;
const WIDTH = 480;
const ROW = 22;

/** @returns a whole SVG document. */
export function plot(title: string, rows: readonly Row[]): string {
  const units = [...new Set(rows.map((row) => row.unit))];
  const parts: string[] = [];
  let y = 30;
  for (const unit of units) {
    const block = rows.filter((row) => row.unit === unit);
    parts.push(`<text x="10" y="${y + 14}" font-weight="bold">${escaped(unit)}</text>`);
    y += ROW;
    const scale = scaleOf(block);
    for (const row of block) {
      parts.push(bar(row, y, scale));
      y += ROW;
    }
    y += ROW / 2;
  }
  const style = 'font-family="sans-serif" font-size="12"';
  const size = `width="${LABEL + WIDTH + 120}" height="${y + 10}"`;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} ${style}>` +
    `<rect width="100%" height="100%" fill="white"/>` +
    `<text x="10" y="18" font-size="14">${escaped(title)}</text>${parts.join('')}</svg>\n`
  );
}

type Scale = (value: number) => number;

function scaleOf(rows: readonly Row[]): Scale {
  const values = rows.flatMap(({ min, max }) => [min, max]).filter((value) => value > 0);
  const low = Math.log10(Math.min(...values, 1e12)) - 0.5;
  const high = Math.log10(Math.max(...values, 1e-12));
  const span = Math.max(high - low, 0.5);
  return (value) => (value <= 0 ? 0 : Math.max(2, ((Math.log10(value) - low) / span) * WIDTH));
}

function bar({ measure, median, min, max, goal }: Row, y: number, scale: Scale): string {
  const colour = goal === undefined ? '#9aa5b1' : goal.kept ? '#3b8c5a' : '#c0563f';
  const middle = y + 7;
  const [from, to] = [LABEL + scale(min), LABEL + scale(max)];
  return (
    `<text x="${LABEL - 8}" y="${y + 11}" text-anchor="end">${escaped(measure)}</text>` +
    `<rect x="${LABEL}" y="${y}" width="${scale(median).toFixed(1)}" height="14" ` +
    `fill="${colour}"/>` +
    `<path d="M${from.toFixed(1)} ${middle}H${to.toFixed(1)}" stroke="black"/>` +
    `<text x="${(Math.max(to, LABEL + scale(median)) + 6).toFixed(1)}" y="${y + 11}">` +
    `${escaped(shown(median))}</text>`
  );
}

const shown = (value: number): string =>
  value >= 1_000 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(3)));

export const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
