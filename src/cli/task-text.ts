// Owns how one task reads on a terminal: a field a line, times in UTC.

import { lineText, safeText } from '../model/safe-text.ts';
import { bytesText, dateText, durationText } from './words.ts';

type Fields = Readonly<Record<string, unknown>>;

const TIMES = new Set(['created_at', 'eligible_at', 'ended_at', 'retry_at']);
const WIDTH = 20;

export function taskText(task: Fields): string {
  const lines: string[] = [];
  for (const [name, value] of Object.entries(task)) {
    if (name === 'lease') lines.push(line(name, leaseLine(value as Fields)));
    else if (!isBytes(name)) lines.push(line(name, fieldText(name, value)));
  }
  for (const name of ['result', 'payload']) {
    const text = bytesText(task, name);
    if (name in task || `${name}_base64` in task) lines.push(line(name, text));
  }
  return lines.join('\n');
}

const isBytes = (name: string): boolean => /^(payload|result)(_base64)?$/.test(name);

/** A value of several lines stands beside its name: none of them can pass for a field. */
const line = (name: string, text: string): string =>
  `${name.padEnd(WIDTH)} ${text.replaceAll('\n', `\n${' '.repeat(WIDTH + 1)}`)}`;

function fieldText(name: string, value: unknown): string {
  if (TIMES.has(name)) return dateText(value);
  if (name.endsWith('_ms')) return durationText(value);
  return safeText(typeof value === 'object' ? JSON.stringify(value) : value);
}

const leaseLine = (lease: Fields): string =>
  `${lease['lease_id']} of ${lineText(lease['worker_id'])},` +
  ` until ${dateText(lease['lease_expiry'])}`;
