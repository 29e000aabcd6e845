// Owns what to do about one lease in hand, and when: send a heartbeat, tell that the lease is
// lost, or report that its execution window is over. A pure function, (lease, input) → {lease,
// output}, without clock, timer or connection. heartbeat-thread.ts calls it; heartbeat-host.ts
// tells that thread which leases are held; through the memory of lease-cell.ts the worker's own
// thread sees that a lease has ended.

export interface HeldLease {
  /** When the lease ends, all by one monotonic clock, in ms. */
  readonly endsAtMs: number;
  /** When the failure "execution window reached" is to be reported, shortly before the window. */
  readonly deadlineAtMs: number;
  readonly intervalMs: number;
  /** When the next heartbeat is due; Infinity: only when the handler asks. */
  readonly beatAtMs: number;
  readonly isInFlight: boolean;
  readonly phase: 'held' | 'lost' | 'deadline';
}

export type HeartbeatInput =
  /** Time has passed. A heartbeat due within `slackMs` is sent along with others. */
  | { readonly kind: 'tick'; readonly nowMs: number; readonly slackMs: number }
  /** The handler wants one now. */
  | { readonly kind: 'asked' }
  | {
      readonly kind: 'ok';
      readonly nowMs: number;
      readonly sentAtMs: number;
      readonly leaseMs: number;
    }
  | { readonly kind: 'rejected'; readonly reason: string }
  /** No answer, or UNAVAILABLE. */
  | { readonly kind: 'unanswered'; readonly nowMs: number };

export type HeartbeatOutput =
  | { readonly kind: 'send' }
  | { readonly kind: 'lost'; readonly reason: string }
  | { readonly kind: 'deadline' };

export interface HeartbeatStep {
  readonly lease: HeldLease;
  readonly output?: HeartbeatOutput;
}

/** The local clock says that the lease is over; the coordinator was not heard. */
export const LEASE_TIME_OVER = 'lease_time_over';
/** The least pause before the next heartbeat when one got no answer. */
const RETRY_MIN_MS = 20;

export function holdLease(lease: {
  readonly nowMs: number;
  readonly endsAtMs: number;
  readonly windowEndsAtMs: number;
  readonly intervalMs: number;
  readonly mode: 'thread' | 'handler';
}): HeldLease {
  // A tenth of what is left of the window, so that the report still arrives within it.
  const marginMs = Math.min(Math.max((lease.windowEndsAtMs - lease.nowMs) / 10, 50), 1_000);
  return {
    endsAtMs: lease.endsAtMs,
    deadlineAtMs: lease.windowEndsAtMs - marginMs,
    intervalMs: lease.intervalMs,
    beatAtMs: lease.mode === 'thread' ? lease.nowMs + lease.intervalMs : Number.POSITIVE_INFINITY,
    isInFlight: false,
    phase: 'held',
  };
}

export function heartbeat(lease: HeldLease, input: HeartbeatInput): HeartbeatStep {
  if (lease.phase !== 'held') return { lease };
  switch (input.kind) {
    case 'tick':
      return tick(lease, input.nowMs, input.slackMs);
    case 'asked':
      return { lease: { ...lease, isInFlight: true }, output: { kind: 'send' } };
    case 'ok': {
      // An older answer that comes late must not shorten what a newer one has given.
      const endsAtMs = Math.max(lease.endsAtMs, input.sentAtMs + input.leaseMs);
      const beatAtMs = nextBeat(lease, input.sentAtMs + lease.intervalMs);
      return { lease: { ...lease, endsAtMs, beatAtMs, isInFlight: false } };
    }
    case 'rejected': {
      const output = { kind: 'lost', reason: input.reason } as const;
      return { lease: { ...lease, phase: 'lost' }, output };
    }
    case 'unanswered': {
      const leftMs = lease.endsAtMs - input.nowMs;
      const soonMs = Math.max(RETRY_MIN_MS, Math.min(lease.intervalMs, leftMs / 4));
      const beatAtMs = nextBeat(lease, input.nowMs + soonMs);
      return { lease: { ...lease, beatAtMs, isInFlight: false } };
    }
  }
}

/** When `tick` has something to do for this lease at the latest; Infinity: nothing. */
export function wakeAtMs(lease: HeldLease): number {
  if (lease.phase !== 'held') return Number.POSITIVE_INFINITY;
  const beatAtMs = lease.isInFlight ? Number.POSITIVE_INFINITY : lease.beatAtMs;
  return Math.min(lease.endsAtMs, lease.deadlineAtMs, beatAtMs);
}

function tick(lease: HeldLease, nowMs: number, slackMs: number): HeartbeatStep {
  // Lost is checked before deadline. After a long pause of the process both times may be over, and
  // the coordinator would cancel a report for a lease that has ended.
  if (nowMs >= lease.endsAtMs) {
    return {
      lease: { ...lease, phase: 'lost' },
      output: { kind: 'lost', reason: LEASE_TIME_OVER },
    };
  }
  if (nowMs >= lease.deadlineAtMs) {
    return { lease: { ...lease, phase: 'deadline' }, output: { kind: 'deadline' } };
  }
  if (lease.isInFlight || nowMs + slackMs < lease.beatAtMs) return { lease };
  return { lease: { ...lease, isInFlight: true }, output: { kind: 'send' } };
}

/** In handler mode nothing is due by itself. */
function nextBeat(lease: HeldLease, atMs: number): number {
  return lease.beatAtMs === Number.POSITIVE_INFINITY ? lease.beatAtMs : atMs;
}
