// Owns the JSON of a refusal: RFC 9457 members, then what a program decides by. It shows what the
// refusal says and nothing of the inside: no stack, no path, no payload.

import { REASONS, type Refusal } from '../model/refusal.ts';

/**
 * @param status where HTTP has a closer one for it than the reason has
 * @returns the body of a refusal over HTTP, in a batch and on the socket.
 */
export function formatRefusal(
  refusal: Refusal,
  status: number = REASONS[refusal.reason].status,
): string {
  const { reason, detail, field, taskState, leaseExpiry } = refusal;
  const { title } = REASONS[reason];
  let text =
    `{"type":"urn:leasehold:${reason}","title":"${title}",` +
    `"status":${status},"detail":${JSON.stringify(detail ?? `${title}.`)},` +
    `"outcome":"${refusal.outcome}","reason":"${reason}"`;
  if (field !== undefined) text += `,"field":${JSON.stringify(field)}`;
  if (refusal.firstOutcome !== undefined) text += `,"first_outcome":"${refusal.firstOutcome}"`;
  if (refusal.firstReport !== undefined) text += `,"first_report":"${refusal.firstReport}"`;
  if (refusal.firstRecord !== undefined) text += `,"first_record":${refusal.firstRecord}`;
  if (taskState !== undefined) text += `,"task_state":"${taskState}"`;
  if (leaseExpiry !== undefined) text += `,"lease_expiry":${leaseExpiry}`;
  return `${text},"record":${refusal.record}}`;
}
