// Owns how the rows of queues and workers read in a table, for `queues`, `workers` and `top`.

import type { Column } from './table.ts';

export type Fields = Readonly<Record<string, unknown>>;

const numberOf = (value: unknown): number => (typeof value === 'number' ? value : 0);
const countText = (value: unknown): string => String(numberOf(value));

/** 0.4s, 12s, 3m05s, 4h12m, 3d4h: of a duration in ms, where there is little room. */
export function shortDuration(ms: number): string {
  const seconds = Math.max(0, ms) / 1_000;
  if (seconds < 1) return `${(Math.floor(seconds * 10) / 10).toFixed(1)}s`;
  const pad = (value: number): string => String(Math.floor(value)).padStart(2, '0');
  if (seconds < 60) return `${Math.floor(seconds)}s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m${pad(seconds % 60)}s`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)}h${pad((seconds % 3_600) / 60)}m`;
  return `${Math.floor(seconds / 86_400)}d${Math.floor((seconds % 86_400) / 3_600)}h`;
}

function rateText(value: unknown): string {
  const rate = numberOf(value);
  if (rate === 0) return '0';
  if (rate < 0.1) return '<0.1';
  return rate < 10 ? rate.toFixed(1) : String(Math.round(rate));
}

/** @param now the coordinator's time when the rows were made */
export function queueColumns(now: number): readonly Column<Fields>[] {
  return [
    { head: 'queue', value: (row) => String(row['queue']), least: 10 },
    { head: 'waiting', value: (row) => countText(row['waiting']), isNumber: true },
    { head: 'delayed', value: (row) => countText(row['delayed']), isNumber: true },
    { head: 'leased', value: (row) => countText(row['leased']), isNumber: true },
    { head: 'oldest', value: oldestText, isNumber: true },
    { head: 'in/s', value: (row) => rateText(row['submitted_per_second']), isNumber: true },
    { head: 'out/s', value: (row) => rateText(row['finished_per_second']), isNumber: true },
    { head: 'asked', value: (row) => askedText(row, now) },
    {
      head: 'by',
      value: ({ last_asked_by: by }) => (by === undefined ? '' : String(by)),
      least: 6,
    },
  ];
}

const oldestText = (row: Fields): string =>
  numberOf(row['eligible']) === 0 ? '-' : shortDuration(numberOf(row['oldest_waiting_ms']));

/** When a worker last asked for the queue; a lease request that waits asks now. */
function askedText({ last_asked_at: at, parked_requests: parked }: Fields, now: number): string {
  if (numberOf(parked) > 0) return 'now';
  return typeof at === 'number' ? `${shortDuration(now - at)} ago` : 'never';
}

/** @param now the coordinator's time when the rows were made */
export function workerColumns(now: number): readonly Column<Fields>[] {
  return [
    { head: 'worker', value: (row) => String(row['worker_id']), least: 10 },
    { head: 'leases', value: (row) => countText(row['active_leases']), isNumber: true },
    { head: 'capacity', value: capacityText, isNumber: true },
    { head: 'last request', value: (row) => seenText(row, now) },
    { head: 'lease ends', value: (row) => endText(row, now) },
    { head: 'holds', value: (row) => (row['leases'] as string[]).join(' '), least: 5 },
  ];
}

const capacityText = ({ capacity }: Fields): string =>
  typeof capacity === 'number' ? String(capacity) : '-';

const seenText = ({ last_seen_at: at }: Fields, now: number): string =>
  typeof at === 'number' ? `${shortDuration(now - at)} ago` : 'not since start';

const endText = ({ next_lease_expiry: at }: Fields, now: number): string =>
  typeof at === 'number' ? `in ${shortDuration(at - now)}` : '-';
