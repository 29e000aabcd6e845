// Owns the answers of servers that decide nothing: as long as leasehold's own, and always the same.
// What such a server reaches is the most that one thread in Node can reach with this driver.

const PAYLOAD = 'x'.repeat(100);
const NOW = 1_700_000_000_000;

export const SUBMITTED =
  '{"task_id":"T2","state":"WAITING","queue":"default","deduplicated":false,"record":2}';
export const LEASED =
  '{"leases":[{"task_id":"T2","lease_id":"L3","fencing_token":3,"queue":"default","attempt":1,' +
  `"max_retries":3,"payload":"${PAYLOAD}","lease_expiry":${NOW},"lease_ms":30000,"waited_ms":0,` +
  `"execution_deadline":${NOW},"heartbeat_interval_ms":10000,"created_at":${NOW}}]}`;
export const COMPLETED =
  '{"task_id":"T2","lease_id":"L3","outcome":"COMMITTED","state":"COMPLETED","record":4}';
