// Owns the explanation as a picture: one lane for each attempt on a common time axis. A bar is the
// lease and a tick a heartbeat; the picture also shows how each lease ended, late reports, and
// starts of the coordinator.

import { formatLeaseId, formatTaskId } from '../model/ids.ts';
import { clockText, dayText, durationText, timeText } from '../model/time-text.ts';
import type { AttemptEnd, ExplainedAttempt, ExplainedStart, Explanation } from './explanation.ts';
import { citing, downText, isDownHidden, plural, shortened } from './names.ts';

const WIDTH = 960;
const LEFT = 190;
const RIGHT = 30;
const TOP = 64;
const LANE = 30;
const BAR = 14;
/** More attempts than this are drawn as the first and the last ones. */
const LANES_MAX = 100;

const COLORS: Record<AttemptEnd | 'runs', string> = {
  completed: '#2e7d32',
  failed: '#c62828',
  released: '#6d4c41',
  expired: '#ef6c00',
  killed: '#4a148c',
  runs: '#1565c0',
};

const END_WORDS: Record<AttemptEnd | 'runs', string> = {
  completed: 'completed',
  failed: 'failed',
  released: 'given back',
  expired: 'ran out',
  killed: 'killed',
  runs: 'runs',
};

/** @returns one SVG document; every text in it that a user chose is escaped. */
export function explanationSvg(given: Explanation): string {
  const lanes = shownAttempts(given.attempts);
  const height = TOP + Math.max(lanes.length, 1) * LANE + 58;
  const scale = scaleOf(given);
  const title = `${formatTaskId(given.taskId)} · queue ${given.queue} · ${given.state}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ` +
      `${WIDTH} ${height}" role="img" font-family="sans-serif" font-size="12">`,
    `<title>${escape(title)}</title><desc>${escape(description(given))}</desc>`,
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    text(16, 24, title, ' font-size="16" font-weight="bold"'),
    text(16, 44, given.summary, ' fill="#555555"'),
    axis(given, scale, height - 44),
    ...given.starts.map((start) => startLine(start, scale, height - 44)),
    ...lanes.map((attempt, index) => lane(attempt, TOP + index * LANE, given, scale)),
    lanes.length === 0 ? text(LEFT, TOP + 18, 'no attempt yet', ' fill="#555555"') : '',
    text(16, height - 10, legend(given, lanes.length), ' fill="#555555"'),
    '</svg>',
    '',
  ].join('\n');
}

/** Whatever the picture cannot show, for whoever reads it in words: as the other forms have it. */
function description({ summary, statements, now }: Explanation): string {
  const told = [...statements, ...now.facts, { ...now.next, text: `Next: ${now.next.text}` }];
  return [summary, ...told.map(citing)].join(' ');
}

interface Scale {
  readonly from: number;
  readonly to: number;
  x(at: number): number;
}

function scaleOf({ createdAt, records, now }: Explanation): Scale {
  const open = now.state === 'WAITING' || now.state === 'LEASED';
  const last = open ? now.at : records.reduce((last, { at }) => Math.max(last, at), createdAt);
  const to = Math.max(last, createdAt + 1);
  const span = WIDTH - LEFT - RIGHT;
  const part = (at: number): number =>
    Math.min(1, Math.max(0, (at - createdAt) / (to - createdAt)));
  return { from: createdAt, to, x: (at) => round(LEFT + part(at) * span) };
}

const round = (value: number): number => Math.round(value * 10) / 10;

function shownAttempts(attempts: readonly ExplainedAttempt[]): readonly ExplainedAttempt[] {
  if (attempts.length <= LANES_MAX) return attempts;
  return [...attempts.slice(0, LANES_MAX / 2), ...attempts.slice(-LANES_MAX / 2)];
}

function axis(given: Explanation, { from, to, x }: Scale, y: number): string {
  const marks = [0, 0.25, 0.5, 0.75, 1].map((part) => {
    const at = Math.floor(from + (to - from) * part);
    const anchor = part === 0 ? 'start' : part === 1 ? 'end' : 'middle';
    return (
      `<line x1="${x(at)}" y1="${TOP - 8}" x2="${x(at)}" y2="${y}" stroke="#e0e0e0"/>` +
      text(x(at), y + 16, clockText(at), ` text-anchor="${anchor}" fill="#555555"`)
    );
  });
  return marks.join('') + text(16, y + 16, `${dayText(given.createdAt)} UTC`, ' fill="#555555"');
}

/** A start, and before it the time in which the coordinator was down at most. */
function startLine(start: ExplainedStart, { from, x }: Scale, y: number): string {
  const { at, seq, lastAliveAt = at } = start;
  const isUpTill = at === lastAliveAt && start.restored === undefined && !isDownHidden(start);
  const down = isUpTill ? '' : `, ${downText(start)}`;
  const told = `coordinator started (record ${seq}) at ${timeText(at, from)}${down}`;
  const width = round(x(at) - x(lastAliveAt));
  return (
    `<rect x="${x(lastAliveAt)}" y="${TOP - 8}" width="${width}" height="${y - TOP + 8}" ` +
    `fill="#000000" fill-opacity="0.08"><title>${told}</title></rect>` +
    `<line x1="${x(at)}" y1="${TOP - 8}" x2="${x(at)}" y2="${y}" stroke="#000000" ` +
    `stroke-dasharray="4 3"><title>${told}</title></line>`
  );
}

function lane(attempt: ExplainedAttempt, y: number, given: Explanation, scale: Scale): string {
  const { x } = scale;
  const ended = attempt.ended === 'expired' ? attempt.leaseExpiry : attempt.endedAt;
  const start = x(attempt.grantedAt);
  const end = Math.max(x(ended ?? given.now.at), start + 1);
  const color = COLORS[attempt.ended ?? 'runs'];
  const worker = shortened(attempt.workerId, 18);
  const name = `${attempt.attempt}  ${formatLeaseId(attempt.leaseId)}  ${worker}`;
  const told =
    `attempt ${attempt.attempt}, ${formatLeaseId(attempt.leaseId)}, ${attempt.workerId}: ` +
    `${END_WORDS[attempt.ended ?? 'runs']}, ` +
    durationText((ended ?? given.now.at) - attempt.grantedAt);
  return [
    '<g>',
    text(16, y + BAR, name, ''),
    `<rect x="${start}" y="${y + 2}" width="${round(end - start)}" height="${BAR}" rx="2" ` +
      `fill="${color}" fill-opacity="0.75"><title>${escape(told)}</title></rect>`,
    ticks(attempt, y, x),
    text(end + 4, y + BAR, END_WORDS[attempt.ended ?? 'runs'], endAnchor(start, end)),
    lateReport(attempt, end, y, scale),
    '</g>',
  ].join('');
}

/** Inside a bar that is long enough, else beside it, and never outside the picture. */
function endAnchor(start: number, end: number): string {
  if (end - start > 90) return ' text-anchor="end" dx="-10" fill="#ffffff"';
  return end > WIDTH - 90
    ? ` text-anchor="end" dx="${round(start - end - 8)}" fill="#333333"`
    : ' fill="#333333"';
}

/** Heartbeats that fall on one pixel are one tick. */
function ticks(attempt: ExplainedAttempt, y: number, x: (at: number) => number): string {
  const places = [...new Set(attempt.heartbeats.map((at) => Math.round(x(at))))];
  return places
    .map((at) => `<line x1="${at}" y1="${y + 2}" x2="${at}" y2="${y + 2 + BAR}" stroke="#ffffff"/>`)
    .join('');
}

function lateReport(
  { report }: ExplainedAttempt,
  end: number,
  y: number,
  { from, x }: Scale,
): string {
  if (report?.outcome !== 'CANCELLED') return '';
  const at = x(report.at);
  const middle = y + 2 + BAR / 2;
  const time = timeText(report.at, from);
  const told = `late report: ${report.verb} at ${time}, CANCELLED (record ${report.record})`;
  return (
    `<line x1="${end}" y1="${middle}" x2="${at}" y2="${middle}" stroke="#c62828" ` +
    `stroke-dasharray="2 3"/>` +
    `<circle cx="${at}" cy="${middle}" r="5" fill="none" stroke="#c62828" stroke-width="2">` +
    `<title>${told}</title></circle>`
  );
}

function legend({ attempts }: Explanation, shown: number): string {
  const left = attempts.length - shown;
  const more =
    left > 0
      ? ` · ${plural(left, 'attempt in the middle is', 'attempts in the middle are')} not drawn`
      : '';
  return (
    `bar: lease · white tick: heartbeat · red circle: late report, dots lead to it · dashed ` +
    `line: coordinator started · grey: it was down at most${more}`
  );
}

const text = (x: number, y: number, content: string, attributes: string): string =>
  `<text x="${round(x)}" y="${round(y)}"${attributes}>${escape(content)}</text>`;

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
/** Control characters and lone surrogates, which no XML document may hold, become `?`. */
const escape = (content: string): string =>
  content
    .replace(/[\p{Cc}\p{Cs}\ufffe\uffff]/gu, '?')
    .replace(/[&<>"]/g, (character) => ENTITIES[character] ?? '');
