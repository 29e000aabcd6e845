// Owns the table of faults. Each fault is one way in which a worker can break its contract, in
// words, with the place in the documents that tells how to mend it.

export type FaultName =
  | 'no-heartbeat'
  | 'heartbeat-after-report'
  | 'sent-after-cancelled'
  | 'second-report'
  | 'old-lease'
  | 'report-given-up'
  | 'no-report'
  | 'crashed'
  | 'effect-repeated'
  | 'effect-without-lease'
  | 'reported-before-effect'
  | 'completed-without-effect'
  | 'ignores-shutdown'
  | 'kept-at-shutdown'
  | 'not-done';

interface Words {
  readonly title: string;
  /** Whether a machine that is slow enough can make the fault of a worker that has none. */
  readonly timed: boolean;
  readonly mend: string;
}

export const FAULTS: Readonly<Record<FaultName, Words>> = {
  'no-heartbeat': {
    title: 'worked for longer than a lease without a heartbeat',
    timed: true,
    mend: 'send a heartbeat each heartbeat_interval_ms while the task is in hand',
  },
  'heartbeat-after-report': {
    title: 'sent heartbeats for a task that it had reported',
    timed: true,
    mend: 'end the timer of the heartbeats before, or when, the report is answered',
  },
  'sent-after-cancelled': {
    title: 'sent something under a lease after it had been told CANCELLED',
    timed: false,
    mend: 'treat CANCELLED as the end of the attempt: stop, discard, send nothing more',
  },
  'second-report': {
    title: 'sent a second report under one lease',
    timed: false,
    mend: 'report once; repeat only the same report, and only when no answer came',
  },
  'old-lease': {
    title: 'reported under an old lease of its task while it had a newer one',
    timed: false,
    mend: 'take the lease id of each heartbeat, report and effect from the grant being worked on',
  },
  'report-given-up': {
    title: 'gave up a report that had not been decided',
    timed: true,
    mend: 'send the same report again, after a pause, until it is answered or the lease is over',
  },
  'no-report': {
    title: 'reported nothing about a task that it had in hand, until the lease ran out',
    timed: true,
    mend: 'report a failure with fail, also when the work throws; give back what is not begun',
  },
  crashed: {
    title: 'ended by itself in the middle of a task',
    timed: false,
    mend: 'catch what the work throws and report it with fail (permanent: no further attempt)',
  },
  'effect-repeated': {
    title: 'repeated its effect within one attempt',
    timed: false,
    mend: 'when the answer to a report is lost, repeat the report and not the work',
  },
  'effect-without-lease': {
    title: 'made its effect although its lease was lost',
    timed: true,
    mend: 'ask whether the lease still holds right before the effect (stillMine, a heartbeat)',
  },
  'reported-before-effect': {
    title: 'reported a task as done before its effect had happened',
    timed: false,
    mend: 'report when the effect is there; when it failed or gave no answer, try again or fail',
  },
  'completed-without-effect': {
    title: 'reported a task as done that never had its effect',
    timed: false,
    mend: 'when the effect is left out, as without a confirmed lease, fail or release the task',
  },
  'ignores-shutdown': {
    title: 'was still running ten seconds after it had been told to stop',
    timed: true,
    mend: 'on SIGTERM and SIGINT lease no more, finish or release what is in hand, and exit',
  },
  'kept-at-shutdown': {
    title: 'stopped with a task in hand that it neither finished nor gave back',
    timed: true,
    mend: 'before the end, report each task in hand, or give it back: fail with kind released',
  },
  'not-done': {
    title: 'left tasks that were not over when there was nothing in their way any more',
    timed: true,
    mend: 'go on leasing after an answer that was lost, UNAVAILABLE or CANCELLED',
  },
};

/** One fault with what proves it. */
export interface Fault {
  readonly name: FaultName;
  /** Requests and records that prove it, in words. */
  readonly evidence: readonly string[];
}
