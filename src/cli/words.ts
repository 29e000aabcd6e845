// Owns how answers and records read on a terminal. Times are UTC, as everywhere in leasehold's
// texts: a log is compared across machines.

type Fields = Readonly<Record<string, unknown>>;

/** 10:02:11.204 */
export const clockText = (at: unknown): string => iso(at).slice(11, 23);
/** 2026-07-30 10:02:11 */
export const dateText = (at: unknown): string => iso(at).slice(0, 19).replace('T', ' ');

const iso = (at: unknown): string =>
  typeof at === 'number' && Math.abs(at) <= 8.64e15 ? new Date(at).toISOString() : '?'.padEnd(24);

/** 1.5 s, 450 ms, 2 h 3 min: of a duration in ms. */
export function durationText(given: unknown): string {
  const ms = Number(given);
  if (ms < 1_000) return `${ms} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 2_880) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return `${Math.floor(minutes / 1_440)} d`;
}

/** What is not printable must not steer the terminal that it is shown on. */
export const safeText = (value: unknown): string => String(value).replace(CONTROL, '\u00b7');

/** Control characters but tab and line feed. */
const CONTROL = /(?![\t\n])\p{Cc}/gu;

export const recordText = ({ record }: Fields): string =>
  typeof record === 'number' ? `record ${record}` : 'no record';

/** The payload or result as it is shown; bytes that are no text are counted only. */
export function bytesText(fields: Fields, name: string): string {
  const text = fields[name];
  if (typeof text === 'string') return safeText(text);
  const base64 = fields[`${name}_base64`];
  if (typeof base64 !== 'string') return '';
  return `(${Buffer.byteLength(base64, 'base64')} bytes, no text)`;
}

/** One lease of a lease answer. */
export function leaseText(lease: Fields): string {
  const { lease_id, task_id, attempt, lease_expiry, lease_ms, queue, previous } = lease;
  const before = previous === undefined ? '' : `\n  before: ${previousText(previous as Fields)}`;
  return (
    `${lease_id} ${task_id} attempt ${attempt}, until ${clockText(lease_expiry)}` +
    ` (${durationText(lease_ms)}), queue ${queue}, record ${lease['fencing_token']}` +
    `${before}\n  payload: ${bytesText(lease, 'payload')}`
  );
}

function previousText({ attempt, lease_id, worker_id, ended, reason }: Fields): string {
  const why = reason === undefined ? '' : `: ${safeText(reason)}`;
  return `attempt ${attempt}, ${lease_id} of ${safeText(worker_id)}, ${ended}${why}`;
}
