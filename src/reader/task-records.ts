// Owns the way through one task's records without an index: back along `prev` from the newest
// record, and along each lease's extensions. The cost grows with that task's history, not with the
// log.

import type { LogReader } from '../log/log.ts';
import type { LogRecord } from '../model/records.ts';

/** Where the chains begin: what the state, or a Standing, says of a task. */
export interface ChainEnds {
  /** The newest record of the task that is not a LeaseExtended. */
  readonly lastRecord: number;
  /** The running lease's newest extension, 0: none. */
  readonly lastExtension: number;
}

type Get = LogReader['get'];

/**
 * The newest first, but each lease's extensions follow the record that ended it. A record that was
 * forgotten and removed ends its chain.
 * @param wantsExtensions asked before each extension is read; false passes over that lease's others
 */
export function* taskRecordsBackward(
  get: Get,
  ends: ChainEnds,
  wantsExtensions: (seq: number) => boolean = () => true,
): Generator<LogRecord> {
  yield* extensions(get, ends.lastExtension, wantsExtensions);
  for (let seq = ends.lastRecord; seq !== 0; ) {
    const record = get(seq);
    if (record === undefined) return;
    yield record;
    if ('lastExtension' in record) yield* extensions(get, record.lastExtension, wantsExtensions);
    seq = record.prev;
  }
}

function* extensions(
  get: Get,
  last: number,
  wanted: (seq: number) => boolean,
): Generator<LogRecord> {
  for (let seq = last; seq !== 0 && wanted(seq); ) {
    const record = get(seq);
    if (record?.type !== 'LeaseExtended') return;
    yield record;
    seq = record.prev;
  }
}
