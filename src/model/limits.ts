// Owns the bounds of the interface that are not knobs. A knob's range is in the knob table of
// src/settings; what a bound is refused with is said where it is checked.

/** The longest duration that is taken: 100 years. Longer ones are malformed. */
export const DURATION_MAX = 3_153_600_000_000;
/** worker_id and request_id, in UTF-8 bytes. */
export const ID_MAX_BYTES = 256;
export const QUEUE_PATTERN = '^[A-Za-z0-9._:-]{1,128}$';
/** Where a page of queues or workers ended: a number and a name. */
export const CURSOR_MAX_BYTES = ID_MAX_BYTES + 48;
/** The reason of fail and kill, in UTF-8 bytes. */
export const REASON_MAX_BYTES = 4_096;
/** All keys and values of a task's metadata together, in UTF-8 bytes. */
export const METADATA_MAX_BYTES = 4_096;
/** A long poll waits at most so long. */
export const WAIT_MAX_MS = 60_000;
/** Leases in one answer. */
export const LEASES_MAX = 1_000;
/** Queues named by one lease request. */
export const QUEUES_MAX = 1_000;
/** Requests in one batch. */
export const BATCH_MAX = 1_000;
/** Tasks or records in one page. */
export const PAGE_MAX = 1_000;
export const PAGE_DEFAULT = 100;
/** Objects and arrays inside each other; our deepest envelope is a batched retry_policy, 4. */
export const DEPTH_MAX = 32;

/** Width of the text of an explanation: where nobody says how wide the terminal is, and bounds. */
export const COLUMNS_DEFAULT = 80;
export const COLUMNS_MIN = 60;
export const COLUMNS_MAX = 400;

/** Attempts given back in a row beyond this are charged like failures. */
export const FREE_RELEASES_IN_ROW = 100;

/**
 * A start that comes so long after the record before it may have a wrong clock (R6). Then nothing
 * is forgotten for an hour, in which somebody may notice.
 */
export const CLOCK_JUMP_MS = 86_400_000;
export const CAUTION_AFTER_JUMP_MS = 3_600_000;

/** The bounds that knobs set and that parsing must hold. */
export interface ParseLimits {
  /** A payload or result, in bytes after decoding. */
  readonly payloadMaxBytes: number;
}

/** A lone JSON body or line: base64 and escapes grow a payload at most sixfold. */
export const bodyMaxBytes = (payloadMaxBytes: number): number => 6 * payloadMaxBytes + 65_536;
