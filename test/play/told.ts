// Owns how a played story is compared with what is expected and with what is written: by the kinds
// of its records, and by its lines with the numbers made equal.

import type { Transcript } from '../../src/play/twice-page.ts';

const LETTERS: Readonly<Record<string, string>> = {
  TaskCreated: 'C',
  LeaseGranted: 'G',
  LeaseExtended: 'X',
  LeaseExpired: 'E',
  TaskCompleted: 'D',
  TaskFailed: 'F',
  TaskCancelled: 'N',
  TaskDead: 'Z',
};

/** The log without starts. X: any number of extensions. */
export const lettersOf = ({ records }: Transcript): string =>
  records
    .map((type) => LETTERS[type] ?? '')
    .filter((letter, index, all) => letter !== '' && !(letter === 'X' && all[index - 1] === 'X'))
    .join(' ');

/** What a transcript says whatever the moment: all before the log, with numbers made equal. */
export const toldOf = (lines: readonly string[]): string[] =>
  lines
    .slice(0, lines.indexOf('The log:'))
    .map((line) => line.trim().replace(/\d+/g, '#'))
    .filter((line) => line !== '');

/** @returns the lines of a transcript that the page does not have. */
export function unwritten(page: string, { lines }: Transcript): string[] {
  const pageLines = new Set(page.split('\n').map((line) => line.trim().replace(/\d+/g, '#')));
  // A heartbeat at the window changes nothing or comes too late: the moment decides.
  const told = toldOf(lines.slice(2)).filter((line) => !line.includes('heartbeat L#'));
  return told.filter((line) => !pageLines.has(line));
}
