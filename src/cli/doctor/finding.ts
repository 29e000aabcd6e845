// Owns the shape of what `doctor` finds, and how it reads: the verdict, the figure, and the page to
// read where something is not in order.

import { wrap } from '../../explain/wrap.ts';
import { lineText } from '../../model/safe-text.ts';

export type Verdict = 'ok' | 'look' | 'bad';

export interface Finding {
  /** A few words: what was looked at. */
  readonly check: string;
  /** `look`: a person should look at it. `bad`: it does harm, or will soon. */
  readonly verdict: Verdict;
  /** What was measured, with its unit, as a sentence without a full stop. */
  readonly figure: string;
  readonly page: Page;
}

/** Sections of the documents; a test holds them against the headings. */
export const PAGES = {
  run: 'docs/OPERATING.md#run-it',
  retention: 'docs/OPERATING.md#retention-and-the-archive',
  overview: 'docs/OPERATING.md#overview',
  metrics: 'docs/OPERATING.md#metrics',
  alerts: 'docs/OPERATING.md#alerts',
  wrong: 'docs/OPERATING.md#when-something-is-wrong',
  doctor: 'docs/OPERATING.md#doctor',
  cluster: 'docs/REPLICATION.md#operate-it',
} as const;
export type Page = keyof typeof PAGES;

/** @returns the verdict of a figure: worth a look from `look` on, harmful from `bad` on. */
export function judged(value: number, { look, bad }: { look: number; bad: number }): Verdict {
  if (value >= bad) return 'bad';
  return value >= look ? 'look' : 'ok';
}

const VERDICTS: readonly Verdict[] = ['ok', 'look', 'bad'];

export const worstOf = (findings: readonly Finding[]): Verdict =>
  VERDICTS[Math.max(0, ...findings.map(({ verdict }) => VERDICTS.indexOf(verdict)))] as Verdict;

const CHECK_WIDTH = 16;

/** The lines of one finding, none wider than `width` where its words allow. */
export function findingLines({ check, verdict, figure, page }: Finding, width: number): string[] {
  const head = `${verdict.padEnd(4)}  ${check.padEnd(CHECK_WIDTH)}  `;
  const words = verdict === 'ok' ? figure : `${figure}. Read ${PAGES[page]}`;
  const [first = '', ...others] = wrap(lineText(words), width, head.length, head.length);
  return [head + first.slice(head.length), ...others];
}

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];

/** 512 bytes, 1.5 MiB, 20 GiB */
export function sizeText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  for (; value >= 1_024 && unit < UNITS.length - 1; unit += 1) value /= 1_024;
  return `${value < 10 && unit > 0 ? value.toFixed(1) : Math.floor(value)} ${UNITS[unit]}`;
}

/** 0.02 ms, 1.5 ms, 230 ms */
export function msText(ms: number): string {
  if (ms < 1) return `${ms.toFixed(2)} ms`;
  return ms < 10 ? `${ms.toFixed(1)} ms` : `${Math.round(ms)} ms`;
}
