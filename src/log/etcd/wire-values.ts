// Owns the change between what leasehold says of keys, values and conditions and what stands in
// etcd's messages.

import { type Condition, EtcdError, type KeyValue, type Operation } from './etcd.ts';
import type { WireKeyValue } from './wire.ts';

export const bytesOf = (text: string): Buffer => Buffer.from(text);

/** @param text a 64-bit number. @throws EtcdError when it cannot be told apart from the next. */
export function numberOf(text: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number)) return number;
  throw new EtcdError('refused', `etcd told a number that is too large: ${text}`);
}

export const keyValueOf = ({ key, value, mod_revision, lease }: WireKeyValue): KeyValue => ({
  key: key.toString('utf8'),
  value,
  modRevision: numberOf(mod_revision),
  // Ids of ours are exact; those of somebody else's leases need only be others.
  ...(lease === '0' ? {} : { lease: Number(lease) }),
});

export const wireCondition = (condition: Condition): object => ({
  result: 'EQUAL',
  key: bytesOf(condition.key),
  ...('value' in condition
    ? { target: 'VALUE', value: condition.value }
    : { target: 'MOD', mod_revision: condition.modRevision }),
});

export function wireOperation(operation: Operation): object {
  if ('put' in operation) {
    const { put, value, lease } = operation;
    const attached = lease === undefined ? {} : { lease };
    return { request_put: { key: bytesOf(put), value, ...attached } };
  }
  const end = operation.end === undefined ? {} : { range_end: bytesOf(operation.end) };
  if ('remove' in operation) {
    return { request_delete_range: { key: bytesOf(operation.remove), ...end } };
  }
  return { request_range: { key: bytesOf(operation.get), ...end } };
}
