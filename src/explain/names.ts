// Owns how an explanation names workers, reasons, leases and times. Texts that users chose are
// made harmless for a terminal here, so that no other file needs to think of that. Nothing is cut.

import { formatLeaseId, formatTaskId } from '../model/ids.ts';
import {
  durationAtLeastText,
  durationAtMostText,
  durationText,
  timeText,
} from '../model/time-text.ts';
import type { ExplainedAttempt, ExplainedStart } from './explanation.ts';

/** Letters, digits and marks as they are; anything else quoted, with control characters escaped. */
export const nameText = (name: string): string =>
  /^[\p{L}\p{N}._:@/#+~…-]+$/u.test(name) ? name : quoted(name);

/** A reason as it was given, on one line. */
export const reasonText = (reason: string): string => quoted(reason.trim());

/** JSON leaves these as they are; a terminal obeys the first and shows the others as commands. */
const UNSHOWN = /[\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const quoted = (text: string): string =>
  JSON.stringify(text).replace(
    UNSHOWN,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

export const leaseText = ({ leaseId, workerId }: ExplainedAttempt): string =>
  `lease ${formatLeaseId(leaseId)} of worker ${nameText(workerId)}`;

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
  const texts = rangeTexts(numbers);
  if (texts.length <= RANGES_MAX) return listText(texts);
  return `${texts.slice(0, RANGES_MAX).join(', ')} and more, up to ${numbers.at(-1)}`;
}

/** So many leases are named; a task that ran out a hundred times has no more to say. */
const NAMED_MAX = 6;

/** `L3, L5 and L7`; of many the first and the last. */
export function namesText(names: readonly string[]): string {
  if (names.length <= NAMED_MAX) return listText(names);
  const between = names.length - NAMED_MAX + 1;
  return `${names.slice(0, NAMED_MAX - 2).join(', ')}, ${between} more and ${names.at(-1)}`;
}

/** `L3`, or `L3 of T2` where the lease is another task's than the one that is explained. */
export const leaseName = (leaseId: number, taskId: number, explained: number): string =>
  `${formatLeaseId(leaseId)}${taskId === explained ? '' : ` of ${formatTaskId(taskId)}`}`;

/** Silence in the log is not silence of the worker: said wherever silence matters. */
export const UNRECORDED = 'a heartbeat that is refused or changes nothing leaves no record';

/** Three or more numbers that follow each other without a gap are told by the first and last. */
function rangeTexts(numbers: readonly number[]): string[] {
  const ranges: [from: number, to: number][] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === number - 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.flatMap(([from, to]) => {
    if (to - from < 2) return from === to ? [`${from}`] : [`${from}`, `${to}`];
    return [`${from} to ${to}`];
  });
}

/** `attempt 2`, `attempts 1 and 2`, `attempts 1 to 9`. @param numbers ascending. */
export const attemptsText = (numbers: readonly number[]): string =>
  `${numbers.length === 1 ? 'attempt' : 'attempts'} ${rangesText(numbers)}`;

/** Says times relative to one day, so that a story within a day shows clock times only. */
export interface Teller {
  at(time: number): string;
}

export const teller = (reference: number): Teller => ({ at: (time) => timeText(time, reference) });

/** Records without those that are not there, ascending, each once. */
export const recordsOf = (...records: readonly (number | undefined)[]): number[] =>
  [...new Set(records.filter((seq) => seq !== undefined))].toSorted((a, b) => a - b);

/** With the records behind it: `[3, 5 to 9]`. What rests on none is advisory and says so. */
export function citing({ text, records }: { text: string; records: readonly number[] }): string {
  if (records.length === 0) return text;
  return `${text} [${rangeTexts(records.toSorted((a, b) => a - b)).join(', ')}]`;
}

/** Names of one fleet differ at their ends: the middle is left out. Records have the whole name. */
export function shortened(name: string, room: number): string {
  const characters = [...name];
  if (characters.length <= room) return name;
  const head = Math.ceil((room - 1) / 2);
  return `${characters.slice(0, head).join('')}…${characters.slice(head + 1 - room).join('')}`;
}

/** Coordinator time and wall clock: a smaller difference is not worth a sentence. */
export const OFFSET_TOLD_MS = 1_000;

/**
 * Whether nobody can tell how long the coordinator was down before a start: the wall clock had been
 * set back, so coordinator time stood still until the start.
 */
export const isDownHidden = ({ at, lastAliveAt, clockOffsetMs }: ExplainedStart): boolean =>
  at === lastAliveAt && clockOffsetMs >= OFFSET_TOLD_MS;

/** How long the coordinator was down before a start, or what it started on; empty: not known. */
export function downText(start: ExplainedStart): string {
  const { at, lastAliveAt, restored } = start;
  if (restored !== undefined) {
    return `on a copy of the log, without what came after record ${restored.after}`;
  }
  if (lastAliveAt === undefined) return '';
  if (isDownHidden(start)) return 'down for a time that a clock set back hides';
  return `down for ${durationAtMostText(at - lastAliveAt)} at most`;
}

export { durationAtLeastText, durationAtMostText, durationText };
