// Owns the reading of small JSON values that leasehold keeps in etcd. A value is taken only when it
// has exactly the bytes that leasehold would write: a field too many or too few, or another order,
// means that another version or somebody else wrote it, and guessing could lose records.

import { LogError } from '../log.ts';

export type Fields = Readonly<Record<string, unknown>>;

export const jsonBytes = (value: object): Uint8Array => Buffer.from(JSON.stringify(value));

/**
 * @param key names the value in the error
 * @param read takes the fields that it needs, and throws a RangeError for one that is not right
 * @throws LogError LOG_STORE
 */
export function readStrictly<T extends object>(
  key: string,
  bytes: Uint8Array,
  read: (fields: Fields) => T,
): T {
  try {
    const fields = JSON.parse(Buffer.from(bytes).toString('utf8')) as unknown;
    if (typeof fields !== 'object' || fields === null) throw new RangeError('not an object');
    const value = read(fields as Fields);
    if (Buffer.compare(bytes, jsonBytes(value)) !== 0) throw new RangeError('other fields');
    return value;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new LogError('LOG_STORE', `etcd holds something unknown under ${key}: ${why}`);
  }
}

export function numberIn(fields: Fields, name: string, from = 0): number {
  const value = fields[name];
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= from) return value;
  throw new RangeError(`no number ${name}`);
}

export function textIn(fields: Fields, name: string): string {
  const value = fields[name];
  if (typeof value === 'string') return value;
  throw new RangeError(`no text ${name}`);
}
