// Owns how an explanation names things: workers, reasons, leases, times. Texts that users chose are
// made harmless for a terminal here, so nothing else needs to think of it.

import { formatLeaseId } from '../model/ids.ts';
import { durationText, timeText } from '../model/time-text.ts';
import type { ExplainedAttempt } from './explanation.ts';

const WORKER_MAX = 48;
const REASON_MAX = 160;

/** Letters, digits and marks as they are; anything else quoted, with control characters escaped. */
export function workerText(workerId: string): string {
  const shown = cut(workerId, WORKER_MAX);
  return /^[\p{L}\p{N}._:@/#+~…-]+$/u.test(shown) ? shown : quoted(shown);
}

/** A reason as it was given, on one line. */
export const reasonText = (reason: string): string => quoted(cut(reason.trim(), REASON_MAX));

/** JSON leaves these as they are; a terminal obeys the first and shows the others as commands. */
const UNSHOWN = /[\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const quoted = (text: string): string =>
  JSON.stringify(text).replace(
    UNSHOWN,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

function cut(text: string, max: number): string {
  const characters = [...text];
  return characters.length > max ? `${characters.slice(0, max - 1).join('')}…` : text;
}

export const leaseText = ({ leaseId, workerId }: ExplainedAttempt): string =>
  `lease ${formatLeaseId(leaseId)} of worker ${workerText(workerId)}`;

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;

/** `1`, `1 and 2`, `1, 2 and 3`. */
export function listText(items: readonly string[]): string {
  if (items.length < 2) return items.join('');
  return `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`;
}

const RANGES_MAX = 8;

/** `1 and 2`, `1 to 9`, `1 to 3, 5 and 7`; of many the first ones. @param numbers ascending. */
export function rangesText(numbers: readonly number[]): string {
  const ranges: [from: number, to: number][] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === number - 1) last[1] = number;
    else ranges.push([number, number]);
  }
  const texts = ranges.flatMap(([from, to]) => {
    if (to - from < 2) return from === to ? [`${from}`] : [`${from}`, `${to}`];
    return [`${from} to ${to}`];
  });
  if (texts.length <= RANGES_MAX) return listText(texts);
  return `${texts.slice(0, RANGES_MAX).join(', ')} and more, up to ${numbers.at(-1)}`;
}

/** Says times relative to one day, so that a story within a day shows clock times only. */
export interface Teller {
  at(time: number): string;
}

export const teller = (reference: number): Teller => ({ at: (time) => timeText(time, reference) });

export { durationText };
