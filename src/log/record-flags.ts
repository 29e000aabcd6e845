// Owns the flags of stored records: each says that an optional field follows. A flag once used is
// never given another meaning; a new optional field takes the next free bit of its record.

/** Of every record that ends a lease: extensions and last_extension follow. */
export const EXTENDED = 1;
/** Of TaskCompleted. */
export const RESULT = 2;
/** Of TaskFailed. */
export const RETRY_AT = 2;

/** Of TaskCreated, in the order in which the fields follow. */
export const REQUEST_ID = 1;
export const CONTENT_HASH = 2;
export const METADATA = 4;
export const NOT_BEFORE = 8;
export const ORIGIN = 16;
export const BACKOFF_MAX = 32;
/** Absent: the factor is 1. */
export const BACKOFF_FACTOR = 64;
export const CREATED_ALL = 127;

/** A FailureKind or a ReportVerb is stored as its index here: only ever append. */
export const KINDS = ['error', 'permanent', 'released'] as const;
export const REPORTS = ['complete', 'fail'] as const;
