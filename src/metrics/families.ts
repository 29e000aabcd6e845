// Owns the names, types and help texts of the metrics; docs/OPERATING.md, the dashboard and the
// alert rules use these names and a test holds them to it. A help text says what to do when it
// moves.

export interface Family {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
}

export const FAMILIES = {
  leasehold_tasks: {
    type: 'gauge',
    help:
      'Tasks by state and queue. FAILED or DEAD growing: look at them with `leasehold tasks`, ' +
      'then redrive or leave them to retention.',
  },
  leasehold_tasks_eligible: {
    type: 'gauge',
    help:
      'Waiting tasks that a worker could have now. Growing: add workers for the queue, or see ' +
      'why they take none.',
  },
  leasehold_eligible_to_lease_seconds: {
    type: 'histogram',
    help:
      'Time from eligible to leased, of the tasks leased since the start. Rising: too few ' +
      'workers ask for the queue.',
  },
  leasehold_oldest_waiting_seconds: {
    type: 'gauge',
    help:
      'How long the first task of the queue has been eligible. Rising while workers run: nobody ' +
      'asks for this queue; explain the task.',
  },
  leasehold_leases_active: {
    type: 'gauge',
    help:
      'Leases held now. Far below the workers that you run: they are idle, or cannot reach the ' +
      'coordinator.',
  },
  leasehold_lease_expirations_total: {
    type: 'counter',
    help:
      'Leases that ran out (LeaseExpired records). Rising: workers die, stall, or need a longer ' +
      'lease or execution window.',
  },
  leasehold_duplicate_executions_total: {
    type: 'counter',
    help:
      'Grants that follow an expiry of the same task: work that may have been done twice. ' +
      'Rising: explain such a task, and check that effects are fenced.',
  },
  leasehold_late_reports_total: {
    type: 'counter',
    help:
      'Reports discarded because their lease was over (TaskCancelled records). Rising: workers ' +
      'outlive their leases; make them heartbeat, or lengthen the lease.',
  },
  leasehold_retries_total: {
    type: 'counter',
    help:
      'Grants that follow a reported failure, releases not counted. Rising: read the failure ' +
      'reasons with `leasehold tasks`.',
  },
  leasehold_coordinator_restarts_total: {
    type: 'counter',
    help:
      'Starts of the coordinator in this log, but the first; also after a failed write. Rising ' +
      'without your doing: read its log output.',
  },
  leasehold_log_replay_duration_seconds: {
    type: 'gauge',
    help:
      'Time that the last start or rebuild took to replay the log. Growing: shorten retention, ' +
      'or expect longer restarts.',
  },
  leasehold_log_replay_records: {
    type: 'gauge',
    help: 'Records replayed by the last start or rebuild.',
  },
  leasehold_log_last_sequence: {
    type: 'gauge',
    help:
      'Number of the newest record. Standing still while requests come: the log takes no ' +
      'records.',
  },
  leasehold_log_bytes: {
    type: 'gauge',
    help:
      'Size of the log on the device, by what it is for: live, or forgotten and not removed yet. ' +
      'Live near what the device holds: shorten retention or move to a larger one. Forgotten ' +
      'only growing: its removal stopped, the log output says why.',
  },
  leasehold_log_commit_duration_seconds: {
    type: 'histogram',
    help:
      'Time to flush one group of records to the device. Rising: the device is slow or shared; ' +
      'every answer waits for it.',
  },
  leasehold_log_commit_records: {
    type: 'histogram',
    help:
      'Records in one group. Groups grow with load by themselves; thousands mean that the ' +
      'device is the limit.',
  },
  leasehold_mailbox_depth: {
    type: 'gauge',
    help:
      'Requests that wait for the coordinator. Staying high: it is overloaded; answers are late ' +
      'and soon refused.',
  },
  leasehold_mailbox_refused_total: {
    type: 'counter',
    help:
      'Requests refused because the mailbox was full, since the process started. Rising: slow ' +
      'your clients down or spread them.',
  },
  leasehold_request_duration_seconds: {
    type: 'histogram',
    help:
      'Time from a parsed request to its answer; of a lease request the time that it was parked ' +
      'included. UNAVAILABLE rising: the log takes no records, or the mailbox is full.',
  },
  leasehold_clock_offset_seconds: {
    type: 'gauge',
    help:
      'Coordinator time minus the wall clock. Beyond a second: the wall clock was stepped; mend ' +
      'it, leases are safe meanwhile.',
  },
  leasehold_event_loop_lag_seconds: {
    type: 'gauge',
    help:
      'Greatest delay of the event loop of a thread of late. High: that thread has too much to ' +
      'do, or the machine has.',
  },
  leasehold_cluster_leads: {
    type: 'gauge',
    help:
      '1 on the node that leads, 0 on a node that follows. Their sum other than 1 for over ' +
      'ten seconds: look at `leasehold cluster status`.',
  },
  leasehold_cluster_epoch: {
    type: 'gauge',
    help:
      'Number of the record with which the present leader began. Changing without your doing: ' +
      'nodes or their network fail; read their log output.',
  },
  leasehold_cluster_elections_total: {
    type: 'counter',
    help:
      'Times that this process tried to lead, by result, won or lost. Rising: the leader is not ' +
      'heard; see its log output, and the network between the nodes and etcd.',
  },
  leasehold_cluster_confirm_duration_seconds: {
    type: 'histogram',
    help:
      'Shown by the leader: time until etcd confirmed that this node still leads, for answers ' +
      'without a record. Rising: etcd or its network is slow; every read waits for it.',
  },
  leasehold_cluster_commits_unanswered_total: {
    type: 'counter',
    help:
      'Groups of records that etcd did not answer at once: resent, found durable, or given up as ' +
      'unknown. Rising: etcd elects, is slow or cannot be reached.',
  },
  leasehold_cluster_etcd_errors_total: {
    type: 'counter',
    help:
      'Errors of calls to etcd by kind: no_answer, no_space, denied, refused. Rising: the log ' +
      'output of the node says the words.',
  },
  leasehold_cluster_lag_records: {
    type: 'gauge',
    help:
      'Records that the cluster has and this node has not. Growing: its disk or its network ' +
      'is slow.',
  },
  leasehold_cluster_node_lag_records: {
    type: 'gauge',
    help:
      'Shown by the leader: records that each running node has not flushed yet; up to a ' +
      'second old.',
  },
  leasehold_cluster_nodes: {
    type: 'gauge',
    help:
      'Nodes that run, as this node knows. Below what you run: one is down, and nobody takes ' +
      'over for the last.',
  },
  leasehold_cluster_etcd_trouble: {
    type: 'gauge',
    help: '1 while etcd does not answer this node.',
  },
  leasehold_cluster_etcd_members: {
    type: 'gauge',
    help:
      'Shown by the leader: members of etcd that answer. Below what you run: mend it before a ' +
      'second one fails.',
  },
  leasehold_cluster_etcd_database_bytes: {
    type: 'gauge',
    help:
      "Shown by the leader: what is in use of the fullest member's database. Near the quota " +
      'of etcd: etcd takes nothing more when it is reached.',
  },
  leasehold_cluster_etcd_quota_bytes: {
    type: 'gauge',
    help:
      'Shown by the leader: how large the database may become, the least of the members. Absent: ' +
      'they do not tell it, and nothing is refused before etcd is full.',
  },
  leasehold_cluster_refuses_tasks: {
    type: 'gauge',
    help:
      'Shown by the leader: 1 while new tasks are refused because etcd is nearly full. See that ' +
      'nodes run on two machines, so that etcd may forget, or raise its quota.',
  },
  leasehold_cluster_trimmed_sequence: {
    type: 'gauge',
    help:
      'Shown by the leader: up to this record etcd may have deleted what enough nodes hold. ' +
      'Standing still while the database grows: fewer than two machines run nodes.',
  },
  leasehold_cluster_trimmed_holders: {
    type: 'gauge',
    help:
      'Shown by the leader: machines with a running node that holds all that etcd may have ' +
      'deleted; absent while etcd has the whole log. Below 2: the loss of one more disk loses ' +
      'history; start the other nodes, or make a new one.',
  },
} as const satisfies Readonly<Record<string, Family>>;

export type MetricName = keyof typeof FAMILIES;
