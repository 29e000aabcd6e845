// Owns the few closed lists of words about a task that all sides speak.

export const TASK_STATES = ['WAITING', 'LEASED', 'COMPLETED', 'FAILED', 'DEAD'] as const;
export type TaskStateName = (typeof TASK_STATES)[number];

/** What a worker may say of a failed attempt; the transition stays the coordinator's. */
export const FAILURE_KINDS = ['error', 'permanent', 'released'] as const;
