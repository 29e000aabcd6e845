// Owns the words for one record. The lines of `log` and the rows of `explain` are both made from
// this description, so a fact has the same words in both. They differ only in how they join the
// words.

/**
 * The fields of a record under their stored names in camel case. A record that came as JSON may be
 * of a newer version, so nothing is taken for granted: an unknown type has no description.
 */
export type DescribedRecord = Readonly<Record<string, unknown>>;

/** How the reader of the description shows what users or clocks chose. */
export interface Speaker {
  /** A time close to the record's own. */
  time(at: unknown): string;
  /** A time that may be days away. */
  date(at: unknown): string;
  /** A name that somebody chose: a worker or a request id. */
  name(value: unknown): string;
  /** A text that somebody chose: a reason. */
  text(value: unknown): string;
}

export interface RecordWords {
  /** What happened, in two or three words: `late report`. */
  readonly event: string;
  /** What the record itself says of the task's state: `WAITING → LEASED`. */
  readonly change?: string | undefined;
  readonly lease?: string | undefined;
  readonly worker?: string | undefined;
  /** A failure's kind, which the event says in words. */
  readonly kind?: string | undefined;
  readonly reason?: string | undefined;
  /** The fact that matters most, and the others, each in a few words. */
  readonly fact?: string | undefined;
  readonly more: readonly string[];
}

/** @returns what the record says; it infers nothing from other records. */
export function describeRecord(record: DescribedRecord, say: Speaker): RecordWords {
  const lease = record['leaseId'] === undefined ? undefined : String(record['leaseId']);
  switch (record['type']) {
    case 'TaskCreated':
      return {
        event: 'submitted',
        change: '→ WAITING',
        fact: `queue ${record['queue']}`,
        more: createdFacts(record, say),
      };
    case 'LeaseGranted':
      return {
        event: 'granted',
        change: 'WAITING → LEASED',
        lease,
        worker: say.name(record['workerId']),
        fact: `attempt ${record['attempt']}`,
        more: [`until ${say.time(record['leaseExpiry'])}`],
      };
    case 'LeaseExtended': {
      const fact = `until ${say.time(record['newLeaseExpiry'])}`;
      return { event: 'heartbeat', change: 'LEASED', lease, fact, more: [] };
    }
    case 'LeaseExpired':
      return { event: 'ran out', change: 'LEASED → WAITING', lease, more: extensions(record) };
    case 'TaskCompleted':
      return { event: 'completed', change: 'LEASED → COMPLETED', lease, more: extensions(record) };
    case 'TaskFailed':
      return failed(record, lease, say);
    case 'TaskCancelled': {
      const fact = `${record['report']} under a lease that was over`;
      return { event: 'late report', change: 'unchanged', lease, fact, more: [] };
    }
    case 'TaskDead':
      return { event: 'made DEAD', change: '→ DEAD', reason: say.text(record['reason']), more: [] };
    case 'CoordinatorStarted':
      return { event: 'coordinator started', fact: `epoch ${record['epoch']}`, more: [] };
    case 'HistoryForgotten':
      return {
        event: 'history forgotten',
        fact: `COMPLETED through ${record['completedThrough']}`,
        more: [`others through ${record['failedThrough']}`],
      };
    default:
      return { event: '', more: [] };
  }
}

function createdFacts(record: DescribedRecord, say: Speaker): string[] {
  const { requestId, notBefore, originTaskId } = record;
  return [
    ...(requestId === undefined ? [] : [`request ${say.name(requestId)}`]),
    ...(notBefore === undefined ? [] : [`not before ${say.date(notBefore)}`]),
    ...(originTaskId === undefined ? [] : [`redriven from ${originTaskId}`]),
  ];
}

const FAILED_EVENTS: Readonly<Record<string, string>> = {
  released: 'given back',
  permanent: 'failed, permanently',
};

function failed(record: DescribedRecord, lease: string | undefined, say: Speaker): RecordWords {
  const { kind, retryAt, failureReason } = record;
  const again = retryAt !== undefined;
  return {
    event: FAILED_EVENTS[String(kind)] ?? 'failed',
    change: `LEASED → ${again ? 'WAITING' : 'FAILED'}`,
    lease,
    kind: String(kind),
    reason: say.text(failureReason),
    more: again ? [`again at ${say.time(retryAt)}`] : [],
  };
}

/** A record without extensions leaves the field out, or gives it as 0. */
const extensions = ({ extensions: count }: DescribedRecord): string[] =>
  count === undefined || count === 0 ? [] : [`extended ${count === 1 ? 'once' : `${count} times`}`];
