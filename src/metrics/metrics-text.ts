// Owns which figure becomes which metric. Nothing is counted here. The counters come from the
// coordinator's state, which is folded from the log (core/counters.ts), so they are equal before
// and after a restart; how long requests took is counted in request-times.ts.

import type { ClusterView } from '../model/cluster-view.ts';
import { TASK_STATES } from '../model/request.ts';
import type { QueueFigures } from '../model/response.ts';
import { addCluster } from './cluster-metrics.ts';
import { Exposition } from './exposition.ts';
import type { HistogramData } from './histogram.ts';
import type { RequestFigure, ThreadFigures } from './request-times.ts';

/** The body of the coordinator's answer to `metrics`. */
export interface CoordinatorFigures {
  readonly leases_active: number;
  readonly lease_expirations: number;
  readonly duplicate_executions: number;
  readonly late_reports: number;
  readonly retries: number;
  readonly coordinator_restarts: number;
  readonly log_last_sequence: number;
  readonly log_bytes?: number;
  /** Of them. */
  readonly log_forgotten_bytes?: number;
  readonly log_replay_ms?: number;
  readonly log_replay_records?: number;
  readonly clock_offset_ms?: number;
  readonly event_loop_lag_ms?: number;
  readonly mailbox?: { readonly requests: number; readonly refused: number };
  readonly histograms?: {
    readonly commit_seconds?: HistogramData;
    readonly commit_records?: HistogramData;
    readonly confirm_seconds?: HistogramData;
    readonly eligible_to_lease_seconds?: HistogramData;
  };
  /** A bounded number: the fullest, and the others as one. */
  readonly queues: readonly QueueFigures[];
}

/**
 * @param coordinator undefined when the coordinator does not answer: then only the threads' own
 * figures are shown
 * @param cluster undefined on a server without a cluster
 * @returns Prometheus text
 */
export function metricsText(
  coordinator: CoordinatorFigures | undefined,
  threads: readonly ThreadFigures[],
  cluster?: ClusterView,
): string {
  const out = new Exposition();
  if (coordinator !== undefined) {
    addQueues(out, coordinator.queues);
    addCounters(out, coordinator);
    addSurroundings(out, coordinator);
  }
  if (cluster !== undefined) addCluster(out, cluster);
  for (const { op, outcome, seconds } of mergedRequests(threads)) {
    out.histogram('leasehold_request_duration_seconds', seconds, { op, outcome });
  }
  for (const { actor, eventLoopLagMs } of threads) {
    out.set('leasehold_event_loop_lag_seconds', eventLoopLagMs / 1_000, { actor });
  }
  return out.text();
}

function addQueues(out: Exposition, queues: readonly QueueFigures[]): void {
  for (const figures of queues) {
    const { queue } = figures;
    for (const state of TASK_STATES) {
      const count = figures[state.toLowerCase() as Lowercase<typeof state>];
      out.set('leasehold_tasks', count, { state, queue });
    }
    out.set('leasehold_tasks_eligible', figures.eligible, { queue });
    out.set('leasehold_oldest_waiting_seconds', figures.oldest_waiting_ms / 1_000, { queue });
  }
}

function addCounters(out: Exposition, given: CoordinatorFigures): void {
  out.set('leasehold_leases_active', given.leases_active);
  out.set('leasehold_lease_expirations_total', given.lease_expirations);
  out.set('leasehold_duplicate_executions_total', given.duplicate_executions);
  out.set('leasehold_late_reports_total', given.late_reports);
  out.set('leasehold_retries_total', given.retries);
  out.set('leasehold_coordinator_restarts_total', given.coordinator_restarts);
  out.set('leasehold_log_last_sequence', given.log_last_sequence);
}

function addSurroundings(out: Exposition, given: CoordinatorFigures): void {
  const seconds = (ms: number | undefined): number | undefined =>
    ms === undefined ? undefined : ms / 1_000;
  const { histograms } = given;
  const { log_bytes: total, log_forgotten_bytes: forgotten = 0 } = given;
  const live = total === undefined ? undefined : total - forgotten;
  out.set('leasehold_log_bytes', live, { state: 'live' });
  if (total !== undefined) out.set('leasehold_log_bytes', forgotten, { state: 'forgotten' });
  out.set('leasehold_log_replay_duration_seconds', seconds(given.log_replay_ms));
  out.set('leasehold_log_replay_records', given.log_replay_records);
  out.set('leasehold_clock_offset_seconds', seconds(given.clock_offset_ms));
  out.set('leasehold_mailbox_depth', given.mailbox?.requests);
  out.set('leasehold_mailbox_refused_total', given.mailbox?.refused);
  out.histogram('leasehold_log_commit_duration_seconds', histograms?.commit_seconds);
  out.histogram('leasehold_cluster_confirm_duration_seconds', histograms?.confirm_seconds);
  out.histogram('leasehold_log_commit_records', histograms?.commit_records);
  const waited = histograms?.eligible_to_lease_seconds;
  out.histogram('leasehold_eligible_to_lease_seconds', waited);
  const lag = seconds(given.event_loop_lag_ms);
  out.set('leasehold_event_loop_lag_seconds', lag, { actor: 'coordinator' });
}

/** The same op and outcome in several threads is one histogram. */
function mergedRequests(threads: readonly ThreadFigures[]): RequestFigure[] {
  const merged = new Map<string, RequestFigure>();
  for (const figure of threads.flatMap(({ requests }) => requests)) {
    const key = `${figure.op} ${figure.outcome}`;
    const before = merged.get(key);
    merged.set(key, before === undefined ? figure : { ...figure, seconds: sum(before, figure) });
  }
  return [...merged.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
}

function sum({ seconds: a }: RequestFigure, { seconds: b }: RequestFigure): HistogramData {
  return {
    bounds: a.bounds,
    counts: a.counts.map((count, place) => count + (b.counts[place] ?? 0)),
    sum: a.sum + b.sum,
  };
}
