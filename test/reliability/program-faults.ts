// Owns the faults that proofs plant in copies of the program, by name: what each proof must catch,
// and constants that make a proof short. That each can be planted is tested without playing any.

import type { Patch, Replacement } from '../support/planted.ts';

/** Answers leave as soon as they are made. */
export const ANSWERS_EARLY: readonly Patch[] = [
  {
    from: 'hold(ticket, response, needsProof = true) {',
    to: 'hold(ticket, response, needsProof = true) { return false;',
  },
];
export const NEVER_FLUSHES: readonly Patch[] = [{ from: 'noSync,', to: 'noSync: true,' }];
/** The last page of a commit, which makes it count. */
export const FLUSHES_NO_META_PAGE: readonly Patch[] = [
  { from: 'noSync,', to: 'noSync, noMetaSync: true,' },
];
export const BELIEVES_A_FAILED_APPEND: readonly Patch[] = [
  {
    from: "if (result === 'durable') this.tellDurable(group);",
    to: "if (result !== 'fenced') this.tellDurable(group);",
  },
];
/** Its state is another one than a replay makes. */
export const COUNTS_NO_EXPIRATION: readonly Patch[] = [
  { from: 'totals.leaseExpirations += 1;', to: '' },
];

export const IS_SILENT_ABOUT_SOME_REFUSALS: readonly Patch[] = [
  {
    from: "if (parsed.kind === 'refusal')",
    to:
      "if (parsed.kind === 'refusal' && line[0] === 0x7b && line.length % 7 === 0) " +
      "return { kind: 'nothing' }; if (parsed.kind === 'refusal')",
  },
];
export const REFUSES_WHAT_IS_RECORDED: readonly Patch[] = [
  {
    from: 'return WRITERS[response.kind](out, response);',
    to:
      "if (response.kind === 'submitted' && response.queue === 'q') " +
      "return out.text(formatRefusal({ kind: 'refusal', outcome: 'REJECTED', " +
      "reason: 'malformed', record: null }));\n" +
      'return WRITERS[response.kind](out, response);',
  },
];

export const LETS_NO_LEASE_END: readonly Patch[] = [
  { from: 'now >= lease.expiry', to: 'false' },
  { from: 'record.at >= lease.expiry', to: 'false' },
];
export const LOOKS_AT_NO_TIME_BEFORE_A_REQUEST: readonly Patch[] = [
  {
    from: 'const subject = this.located(request, now);',
    to: 'const subject = subjectOfRequest(this.state, request);',
  },
  {
    from: 'record.at >= lease.expiry',
    to: "record.type === 'LeaseExpired' && record.at >= lease.expiry",
  },
];
export const TAKES_A_REPORT_FOR_WHOEVER_HOLDS: readonly Patch[] = [
  {
    from: 'if (lease?.leaseId === request.leaseId) return reported(',
    to: 'if (lease !== undefined) return reported(',
  },
];

export const BELIEVES_THE_WALL_CLOCK: readonly Patch[] = [
  {
    from: 'return this.base + Math.floor(this.clock.monotonic() - this.startedAt);',
    to: 'return Math.floor(this.clock.wall());',
  },
];
const FIRST_TIME = 'this.base = Math.max(wall, lastAt);';
export const BEGINS_WITH_THE_WALL_CLOCK: readonly Patch[] = [
  { from: FIRST_TIME, to: 'this.base = wall;' },
];
export const BEGINS_WITH_THE_END_OF_THE_LOG: readonly Patch[] = [
  { from: FIRST_TIME, to: 'this.base = lastAt === 0 ? wall : lastAt;' },
];

/** Two servers on one log: this one never asks whether another has written. */
export const BELIEVES_ITSELF: readonly Patch[] = [
  { from: 'const APPEND = { append: true };', to: 'const APPEND = {};' },
  { from: 'if (this.db.doesExist(free))', to: 'if (false)' },
];
export const LEAVES_HALF_A_SEGMENT: readonly Patch[] = [
  { from: 'removeHalfMade(temporary);', to: '' },
];
/** Nothing leaves the device, and each record leaves something in memory. */
export const LEAKS: readonly Patch[] = [
  { from: 'this.passing = this.pass();', to: 'void 0;' },
  {
    from: 'countRecord(state, record, subject);',
    to:
      'countRecord(state, record, subject);' +
      '(state.leak ??= []).push(new Uint8Array(32_768).fill(1));',
  },
];
/** Heartbeats and reports find no place that is kept for them. */
export const KEEPS_NO_PLACE: readonly Patch[] = [
  {
    from: 'share.maxRequests - Math.ceil(share.maxRequests / 8)',
    to: 'share.maxRequests',
  },
];

/** No fault: fewer records gather behind a flush, so that one machine can ask ten times as much. */
export const GATHERS_LESS: readonly Patch[] = [
  { from: 'GATHERED_MAX = 4_096', to: 'GATHERED_MAX = 256' },
];
/**
 * No fault: a device that hangs is given up sooner. Not at a start: on a busy machine that takes
 * long without a fault. And a commit that is refused is not given up for a while.
 */
export const IMPATIENT: readonly Patch[] = [
  { from: 'const stallMs = options.stallMs ?? STALL_MS', to: 'const stallMs = 10_000' },
  { from: 'STALL_MS = 10_000', to: 'STALL_MS = 2_000' },
  { from: 'REFUSE_MS = 10_000', to: 'REFUSE_MS = 500' },
  { from: 'HANG_MS = 2 * REFUSE_MS', to: 'HANG_MS = 5_000' },
  { from: 'ENDS_WITHIN_MS = 5_000', to: 'ENDS_WITHIN_MS = 500' },
];
/** No fault: on a busy machine threads do not die often enough to be too many in a minute. */
export const COUNTS_DEATHS_FOR_LONG: readonly Patch[] = [
  { from: 'CALM_MS = 60_000', to: 'CALM_MS = 600_000' },
];
/** Waits for a flush for minutes before it refuses all requests. */
export const PATIENT: readonly Patch[] = [
  { from: 'STALL_MS = 10_000', to: 'STALL_MS = 200_000' },
  { from: 'REFUSE_MS = 10_000', to: 'REFUSE_MS = 200_000' },
  { from: 'HALF_LINE_LIMIT_MS = 30_000', to: 'HALF_LINE_LIMIT_MS = 200_000' },
];

/** The heads of functions in the middle of a decision, of an answer, and of a commit. */
export const MOMENTS: Readonly<Record<string, Replacement>> = {
  deciding: { from: 'decide(record, subject) {', to: '' },
  answering: { from: 'replyBy(to, ticket, write, value) {', to: '' },
  appending: { from: 'append(record) {', to: '' },
};
