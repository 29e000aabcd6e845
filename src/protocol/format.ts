// Owns the JSON text of every answer, the same over HTTP, in a batch and on the socket. It decides
// nothing and adds nothing: what the Response does not say is not said.

import type {
  HeartbeatOk,
  Lease,
  Leased,
  Redriven,
  Response,
  Submitted,
} from '../model/response.ts';
import { optionalMember } from './format-fields.ts';
import { formatStanding, formatTask, formatTasks } from './format-task.ts';
import { bytesMember } from './payload-bytes.ts';
import { formatRefusal } from './problem.ts';

/** @returns one JSON object, without line feeds. */
export function format(response: Response): string {
  switch (response.kind) {
    case 'refusal':
      return formatRefusal(response);
    case 'submitted':
      return submitted(response);
    case 'leased':
      return leased(response);
    case 'heartbeat':
      return heartbeat(response);
    case 'committed': {
      const retry = optionalMember('retry_at', response.retryAt);
      const state = `"outcome":"COMMITTED","task_state":"${response.taskState}"`;
      return `{${state}${retry},"record":${response.record}}`;
    }
    case 'redriven':
      return redriven(response);
    case 'task':
      return formatTask(response);
    case 'tasks':
      return formatTasks(response);
    case 'standing':
      return formatStanding(response);
    case 'overview':
      return JSON.stringify(response.body);
  }
}

const submitted = (answer: Submitted): string =>
  `{"task_id":"T${answer.taskId}","state":"${answer.state}","queue":"${answer.queue}",` +
  `"deduplicated":${answer.deduplicated},"record":${answer.record}}`;

const redriven = (answer: Redriven): string =>
  `{"task_id":"T${answer.taskId}","origin_task_id":"T${answer.originTaskId}",` +
  `"state":"${answer.state}","deduplicated":${answer.deduplicated},"record":${answer.record}}`;

const heartbeat = (answer: HeartbeatOk): string =>
  `{"outcome":"OK","lease_expiry":${answer.leaseExpiry},"lease_ms":${answer.leaseMs},` +
  `"execution_deadline":${answer.executionDeadline}${answer.atCap ? ',"at_cap":true' : ''},` +
  `"record":${answer.record}}`;

function leased(answer: Leased): string {
  let leases = '';
  for (const lease of answer.leases) {
    leases += (leases === '' ? '' : ',') + oneLease(lease, answer);
  }
  if (answer.empty === undefined) return `{"leases":[${leases}]}`;
  const next = optionalMember('next_eligible_at', answer.empty.nextEligibleAt);
  return `{"leases":[${leases}],"empty":{"reason":"${answer.empty.reason}"${next}}}`;
}

function oneLease(lease: Lease, { waitedMs, base64 }: Leased): string {
  return (
    `{"task_id":"T${lease.taskId}","lease_id":"L${lease.leaseId}",` +
    `"fencing_token":${lease.leaseId},"queue":"${lease.queue}","attempt":${lease.attempt},` +
    `"max_retries":${lease.maxRetries}${previous(lease)}` +
    `${optionalMember('metadata', lease.metadata)},` +
    `${bytesMember('payload', lease.payload, base64)},"lease_expiry":${lease.leaseExpiry},` +
    `"lease_ms":${lease.leaseMs},"waited_ms":${waitedMs},` +
    `"execution_deadline":${lease.executionDeadline},` +
    `"heartbeat_interval_ms":${lease.heartbeatIntervalMs},"created_at":${lease.createdAt}}`
  );
}

function previous({ previous: before }: Lease): string {
  if (before === undefined) return '';
  return (
    `,"previous":{"attempt":${before.attempt},"lease_id":"L${before.leaseId}",` +
    `"worker_id":${JSON.stringify(before.workerId)},"ended":"${before.ended}",` +
    `"at":${before.at}${optionalMember('reason', before.reason)}}`
  );
}
