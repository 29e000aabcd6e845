// Owns the comparison of what clients were told with what the log holds: what was acknowledged is
// there, what was refused is not, nothing is there that nobody asked for, and who had an answer
// before another one asked stands before it.

import type { Fields } from '../support/server.ts';
import type { Asked } from './traffic.ts';

/** Refusals that promise that nothing happened; `log_unavailable` promises nothing. */
const NOTHING_HAPPENED = new Set(['mailbox_full', 'recovering', 'shutting_down', 'not_leader']);

/** The queue of submits that only ask whether the server goes on; they are in no history. */
const PROBE = 'probe';

type Line = Fields & { readonly seq: number; readonly type: string };

/** @returns a sentence for everything that the log and the answers do not agree about. */
export function compare(history: readonly Asked[], log: readonly Fields[]): string[] {
  const lines = log as readonly Line[];
  const bySeq = new Map(lines.map((line) => [line.seq, line]));
  return [
    ...history.flatMap((asked) => notThere(asked, bySeq).map((why) => told(asked, why))),
    ...history.filter(isUnwanted).map((asked) => told(asked, 'such an answer is none')),
    ...refusedButThere(history, lines),
    ...askedForByNobody(history, lines),
    ...twice(history),
    ...outOfOrder(history),
  ];
}

const told = (asked: Asked, why: string): string =>
  `${asked.op} ${JSON.stringify(asked.params)} → ${JSON.stringify(asked.answer)}: ${why}`;

const seqOf = (id: unknown): number => Number(String(id).slice(1));

/** Every answer is one of those that the protocol knows. */
function isUnwanted({ op, answer }: Asked): boolean {
  if (answer === undefined) return false;
  if (answer['rpc_error'] !== undefined) return true;
  const { outcome } = answer;
  if (outcome === undefined) return false;
  const words = ['UNAVAILABLE', 'REJECTED', 'COMMITTED', 'CANCELLED'];
  if (op === 'heartbeat') words.push('OK');
  if (op === 'submit' && (outcome === 'COMMITTED' || outcome === 'CANCELLED')) return true;
  return !words.includes(String(outcome)) || answer['reason'] === 'malformed';
}

/** What the answer claims to be in the log, and is not. */
function notThere({ op, params, answer }: Asked, log: ReadonlyMap<unknown, Line>): string[] {
  if (answer === undefined || answer['outcome'] === 'UNAVAILABLE') return [];
  if (op === 'lease') {
    const worker = { worker_id: params['worker_id'] };
    return ((answer['leases'] ?? []) as Fields[]).flatMap(({ lease_id, task_id, lease_expiry }) =>
      lacks(log, seqOf(lease_id), 'LeaseGranted', { lease_id, task_id, lease_expiry, ...worker }),
    );
  }
  const record = answer['record'] ?? null;
  const first = answer['first_record'];
  if (first !== undefined) {
    const { lease_id } = params;
    const types = ['TaskCompleted', 'TaskFailed', 'TaskCancelled'];
    if (!types.some((type) => lacks(log, first, type, { lease_id }).length === 0)) {
      return [`record ${first} is no report for ${lease_id}`];
    }
  }
  if (op === 'submit' && answer['deduplicated'] === true) {
    const { request_id } = params;
    return lacks(log, seqOf(answer['task_id']), 'TaskCreated', { request_id });
  }
  return record === null ? [] : lacks(log, record, ...meant(op, params, answer));
}

/** The record that an answer with a record number tells of. */
function meant(op: string, params: Fields, answer: Fields): [type: string, fields: Fields] {
  const { task_id, lease_id, request_id } = params;
  const cancelled = answer['outcome'] === 'CANCELLED';
  switch (op) {
    case 'submit':
      return ['TaskCreated', { task_id: answer['task_id'], request_id }];
    case 'heartbeat':
      return ['LeaseExtended', { task_id, lease_id, new_lease_expiry: answer['lease_expiry'] }];
    case 'complete':
      return [cancelled ? 'TaskCancelled' : 'TaskCompleted', { task_id, lease_id }];
    case 'fail':
      return [cancelled ? 'TaskCancelled' : 'TaskFailed', { task_id, lease_id }];
    case 'kill':
      return ['TaskDead', { task_id }];
    default:
      return ['TaskCreated', { task_id: answer['task_id'], origin_task_id: task_id }];
  }
}

function lacks(
  log: ReadonlyMap<unknown, Line>,
  seq: unknown,
  type: string,
  fields: Fields,
): string[] {
  const line = log.get(seq);
  if (line === undefined) return [`record ${seq} is missing`];
  const differs = Object.entries(fields).some(([name, value]) => line[name] !== value);
  if (line.type === type && !differs) return [];
  return [`record ${seq} is another one: ${JSON.stringify(line)}`];
}

/** What a request would leave in the log, as a name. */
function trace(op: string, { request_id, lease_id, task_id }: Fields): string | undefined {
  if (op === 'submit') return `submit ${request_id}`;
  if (op === 'complete' || op === 'fail') return `report ${lease_id}`;
  return op === 'kill' || op === 'redrive' ? `${op} ${task_id}` : undefined;
}

function traceOf(line: Line): string | undefined {
  switch (line.type) {
    case 'TaskCreated': {
      const { request_id, origin_task_id } = line;
      return request_id === undefined ? `redrive ${origin_task_id}` : `submit ${request_id}`;
    }
    case 'TaskCompleted':
    case 'TaskFailed':
    case 'TaskCancelled':
      return `report ${line['lease_id']}`;
    case 'TaskDead':
      // Of a poison task nobody asked for the end, and a kill that comes after it is rejected.
      return String(line['reason']).startsWith('poison: ') ? undefined : `kill ${line['task_id']}`;
    default:
      return undefined;
  }
}

/** Whatever each of its askers was told that nothing happened. */
function refusedButThere(history: readonly Asked[], log: readonly Line[]): string[] {
  const refused = new Map<string, boolean>();
  for (const { op, params, answer } of history) {
    const name = trace(op, params);
    if (name === undefined) continue;
    const { outcome, reason } = answer ?? {};
    const isRefused = outcome === 'UNAVAILABLE' && NOTHING_HAPPENED.has(String(reason));
    const isRejected = outcome === 'REJECTED' && reason !== 'duplicate_report';
    refused.set(name, (refused.get(name) ?? true) && (isRefused || isRejected));
  }
  return log.flatMap((line) => {
    const name = traceOf(line);
    if (name === undefined || refused.get(name) !== true) return [];
    return [`record ${line.seq} is there, but ${name} was refused`];
  });
}

function askedForByNobody(history: readonly Asked[], log: readonly Line[]): string[] {
  const asked = new Set(history.map(({ op, params }) => trace(op, params)));
  return log.flatMap((line) => {
    const name = traceOf(line);
    if (name === undefined || asked.has(name) || line.type === 'TaskDead') return [];
    if (line['queue'] === PROBE) return [];
    return [`record ${line.seq} is there, but nobody asked for it: ${JSON.stringify(line)}`];
  });
}

/** At most one COMMITTED for each lease. */
function twice(history: readonly Asked[]): string[] {
  const committed = new Set<unknown>();
  return history.flatMap(({ op, params, answer }) => {
    if (op !== 'complete' && op !== 'fail') return [];
    if (answer?.['outcome'] !== 'COMMITTED') return [];
    const { lease_id } = params;
    if (committed.has(lease_id)) return [`a second COMMITTED for ${lease_id}`];
    committed.add(lease_id);
    return [];
  });
}

/** An answer that came before a request was sent tells of a smaller number than that one's. */
function outOfOrder(history: readonly Asked[]): string[] {
  const moments = history.flatMap((asked): [number, () => void][] => {
    const record = recordOf(asked);
    if (record === undefined || asked.returned === undefined) return [];
    let before = 0;
    const called = (): void => {
      before = greatest;
    };
    const returned = (): void => {
      if (record <= before) wrong.push(told(asked, `record ${before} had been told before`));
      greatest = Math.max(greatest, record);
    };
    return [
      [asked.called, called],
      [asked.returned, returned],
    ];
  });
  let greatest = 0;
  const wrong: string[] = [];
  for (const [, happens] of moments.toSorted(([a], [b]) => a - b)) happens();
  return wrong;
}

/** The number of the record that a request caused; of the first, when there are several. */
function recordOf({ op, answer }: Asked): number | undefined {
  if (answer === undefined) return undefined;
  if (op === 'lease') {
    const [lease] = (answer['leases'] ?? []) as Fields[];
    return lease === undefined ? undefined : seqOf(lease['lease_id']);
  }
  return typeof answer['record'] === 'number' ? answer['record'] : undefined;
}
