// Holds the metrics to Prometheus' form and to what the figures say: cumulative histograms, merged
// threads.

import { expect } from 'chai';
import { FAMILIES } from '../../src/metrics/families.ts';
import { Histogram } from '../../src/metrics/histogram.ts';
import { type CoordinatorFigures, metricsText } from '../../src/metrics/metrics-text.ts';
import { outcomeOf, RequestTimes } from '../../src/metrics/request-times.ts';
import type { ClusterView } from '../../src/model/cluster-view.ts';
import { rejected, unavailable } from '../../src/model/refusal.ts';
import type { QueueFigures } from '../../src/model/response.ts';
import { answerOf } from '../../src/protocol/answer-frame.ts';
import { samplesOf, valueOf } from './exposition.ts';

const queue = (name: string, waiting: number): QueueFigures => ({
  queue: name,
  waiting,
  leased: 1,
  completed: 2,
  failed: 3,
  dead: 4,
  eligible: waiting,
  oldest_waiting_ms: waiting * 1_000,
});

function coordinator(queues: readonly QueueFigures[]): CoordinatorFigures {
  const data = new Histogram([1, 2, 4]);
  for (const value of [0.5, 1, 3, 9]) data.observe(value);
  return {
    leases_active: queues.length,
    lease_expirations: 5,
    duplicate_executions: 4,
    late_reports: 3,
    retries: 2,
    coordinator_restarts: 1,
    log_last_sequence: 99,
    log_bytes: 4_096,
    log_forgotten_bytes: 96,
    log_replay_ms: 1_500,
    log_replay_records: 98,
    clock_offset_ms: -250,
    event_loop_lag_ms: 3,
    mailbox: { requests: 7, refused: 8 },
    histograms: {
      ...{ commit_seconds: data, commit_records: data, eligible_to_lease_seconds: data },
      confirm_seconds: data,
    },
    queues,
  };
}

const leader: ClusterView = {
  role: 'leader',
  cluster: 'orders',
  node: 'a',
  url: 'http://a',
  epoch: 7,
  last_sequence: 9,
  lag: 0,
  nodes: [
    { node: 'a', url: 'http://a', mirrored: 9 },
    { node: 'b', url: 'http://b', mirrored: 7 },
  ],
  counts: {
    elections: { won: 2, lost: 1 },
    resolved: { durable: 3, resent: 4, unknown: 5 },
    etcd_errors: { no_answer: 6 },
  },
  etcd: { trimmed: 3, holders: 1, database_bytes: 5_000, quota_bytes: 9_000, members: 3 },
};

const answer = answerOf(unavailable('mailbox_full', 'full'));

describe('metrics', () => {
  it('show every family of the table, in the form that scrapers read', () => {
    const times = new RequestTimes();
    times.observe('submit', answer, 3);
    const thread = { actor: 'http', eventLoopLagMs: 20, requests: times.figures() };
    const samples = samplesOf(metricsText(coordinator([queue('mail', 3)]), [thread], leader));
    const shown = new Set(samples.map(({ name }) => name.replace(/_(bucket|sum|count)$/, '')));
    expect([...shown].toSorted()).deep.equal(Object.keys(FAMILIES).toSorted());
    expect(valueOf(samples, 'leasehold_tasks', { state: 'WAITING', queue: 'mail' })).equal(3);
    expect(valueOf(samples, 'leasehold_log_replay_duration_seconds')).equal(1.5);
    expect(valueOf(samples, 'leasehold_log_bytes', { state: 'live' })).equal(4_000);
    expect(valueOf(samples, 'leasehold_log_bytes', { state: 'forgotten' })).equal(96);
    expect(valueOf(samples, 'leasehold_cluster_leads')).equal(1);
    expect(valueOf(samples, 'leasehold_cluster_elections_total', { result: 'lost' })).equal(1);
    expect(
      valueOf(samples, 'leasehold_cluster_commits_unanswered_total', { outcome: 'resent' }),
    ).equal(4);
    expect(valueOf(samples, 'leasehold_cluster_etcd_errors_total', { code: 'no_answer' })).equal(6);
    expect(valueOf(samples, 'leasehold_cluster_node_lag_records', { node: 'b' })).equal(2);
    expect(valueOf(samples, 'leasehold_cluster_trimmed_holders')).equal(1);
    expect(valueOf(samples, 'leasehold_clock_offset_seconds')).equal(-0.25);
    expect(valueOf(samples, 'leasehold_event_loop_lag_seconds', { actor: 'http' })).equal(0.02);
  });

  it('of a node that follows say nothing of the others', () => {
    const { etcd: _, counts: __, ...seen } = leader;
    const samples = samplesOf(metricsText(undefined, [], { ...seen, role: 'follower', lag: 4 }));
    const short = (name: string): string => name.replace('leasehold_cluster_', '');
    const values = samples.map(({ name, value }) => [short(name), value]);
    expect(Object.fromEntries(values)).deep.equal({
      leads: 0,
      epoch: 7,
      lag_records: 4,
      etcd_trouble: 0,
      nodes: 2,
    });
  });

  it('make histograms cumulative', () => {
    const samples = samplesOf(metricsText(coordinator([]), []));
    const buckets = samples.filter(({ name }) => name === 'leasehold_log_commit_records_bucket');
    expect(buckets.map(({ labels, value }) => [labels['le'], value])).deep.equal([
      ['1', 2],
      ['2', 2],
      ['4', 3],
      ['+Inf', 4],
    ]);
    expect(valueOf(samples, 'leasehold_log_commit_records_sum')).equal(13.5);
    expect(valueOf(samples, 'leasehold_log_commit_records_count')).equal(4);
  });

  it('add up what several threads measured of the same request', () => {
    const times = new RequestTimes();
    times.observe('submit', answer, 3);
    const threads = ['http', 'socket'].map((actor) => ({
      actor,
      eventLoopLagMs: 1,
      requests: times.figures(),
    }));
    const samples = samplesOf(metricsText(undefined, threads));
    const labels = { op: 'submit', outcome: 'UNAVAILABLE' };
    expect(valueOf(samples, 'leasehold_request_duration_seconds_count', labels)).equal(2);
    expect(valueOf(samples, 'leasehold_request_duration_seconds_sum', labels)).equal(0.006);
    expect(valueOf(samples, 'leasehold_tasks')).equal(0);
  });

  it('name outcomes as the interface does', () => {
    const cancelled = answerOf({
      kind: 'refusal',
      outcome: 'CANCELLED',
      reason: 'lease_expired',
      record: 7,
    });
    expect(outcomeOf('complete', cancelled)).equal('CANCELLED');
    expect(outcomeOf('fail', answerOf(rejected('duplicate_report', 'twice')))).equal('REJECTED');
    expect(outcomeOf('task', answerOf(rejected('unknown_task', 'none')))).equal('REJECTED');
    expect(outcomeOf('submit', answer)).equal('UNAVAILABLE');
    const done = answerOf({ kind: 'committed', taskState: 'COMPLETED', record: 3 });
    expect(outcomeOf('complete', done)).equal('COMMITTED');
    const seen = answerOf({ kind: 'overview', body: {} });
    expect(outcomeOf('stats', seen)).equal('OK');
  });
});
