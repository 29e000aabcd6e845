// Owns how a result is told: a table for people, a file of JSON and a picture.

import { mkdirSync, writeFileSync } from 'node:fs';
import Table from 'cli-table3';
import type { Row } from './harness.ts';
import type { Machine } from './machine.ts';
import { plot } from './plot.ts';

export function print(rows: readonly Row[], write: (text: string) => void): void {
  const notes = rows.some(({ note }) => note !== undefined);
  const table = new Table({
    head: ['measure', 'median', 'range', 'unit', 'goal', '', ...(notes ? ['note'] : [])],
    style: { head: [], border: [] },
    // One line a row.
    chars: { mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '' },
  });
  for (const { measure, median, min, max, unit, goal, note } of rows) {
    const range = min === max ? '' : `${figure(min)} – ${figure(max)}`;
    const verdict = goal === undefined ? '' : goal.kept ? 'kept' : 'MISSED';
    const told = notes ? [note ?? ''] : [];
    table.push([measure, figure(median), range, unit, goal?.text ?? '', verdict, ...told]);
  }
  write(`${table.toString()}\n`);
}

/** @returns the path of the file; the machine is named in it, and a picture lies beside it. */
export function save(name: string, rows: readonly Row[], machine: Machine): string {
  const at = new Date().toISOString();
  const stem = `bench/results/${name}-${at.replaceAll(/[:.]/g, '-')}`;
  mkdirSync('bench/results', { recursive: true });
  const content = { bench: name, at, machine, rows };
  writeFileSync(`${stem}.json`, `${JSON.stringify(content, null, 2)}\n`);
  writeFileSync(`${stem}.svg`, plot(`${name}, ${at}`, rows));
  return `${stem}.json`;
}

const figure = (value: number): string =>
  value >= 1_000
    ? Math.round(value).toLocaleString('en').replaceAll(',', ' ')
    : String(Number(value.toPrecision(3)));
