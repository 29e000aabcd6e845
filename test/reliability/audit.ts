// Owns what must hold of any log, whoever wrote it under whatever faults: written from the rules of
// tasks and leases, not from the code that keeps them. It looks at records as /v1/log shows them.

import type { Fields } from '../support/server.ts';

/** A line of the log; which fields it has depends on its type. */
interface Line {
  readonly seq: number;
  readonly type: string;
  readonly at: number;
  readonly prev: number;
  readonly task_id: string;
  readonly lease_id: string;
  readonly attempt: number;
  readonly lease_expiry: number;
  readonly granted_at: number;
  readonly new_lease_expiry: number;
  readonly execution_window_ms: number;
  readonly not_before?: number;
  readonly retry_at?: number;
  readonly extensions?: number;
  readonly last_extension?: number;
  readonly report: string;
}

interface Task {
  state: 'WAITING' | 'LEASED' | 'COMPLETED' | 'FAILED' | 'DEAD';
  attempt: number;
  eligibleAt: number;
  /** The newest record that is not a LeaseExtended. */
  newest: number;
  readonly windowMs: number;
  lease: Lease | undefined;
}

interface Lease {
  readonly id: string;
  readonly grantedAt: number;
  expiry: number;
  extensions: number;
  newestExtension: number;
}

/** @returns a sentence for everything in the log that may not be. */
export function audit(log: readonly Fields[]): string[] {
  const auditor = new Auditor();
  for (const line of log) auditor.take(line as unknown as Line);
  return auditor.wrong;
}

class Auditor {
  readonly wrong: string[] = [];
  private readonly tasks = new Map<string, Task>();
  /** By lease, the task that it was granted for. */
  private readonly granted = new Map<string, string>();
  private readonly outcomes = new Map<string, number>();
  private last = 0;
  private lastAt = 0;

  take(line: Line): void {
    const say = (what: string): void => {
      this.wrong.push(`record ${line.seq} ${line.type} ${line.task_id ?? ''}: ${what}`);
    };
    if (line.seq !== this.last + 1) say(`follows record ${this.last}`);
    if (line.at < this.lastAt) say(`time goes back from ${this.lastAt} to ${line.at}`);
    this.last = line.seq;
    this.lastAt = Math.max(line.at, this.lastAt);
    if (line.type === 'CoordinatorStarted' || line.type === 'HistoryForgotten') return;
    if (line.type === 'TaskCreated') return this.created(line, say);
    const task = this.tasks.get(line.task_id);
    if (task === undefined) return say('no such task');
    this.happened(line, task, say);
    if (line.type !== 'LeaseExtended') task.newest = line.seq;
  }

  private created(line: Line, say: (what: string) => void): void {
    if (line.task_id !== `T${line.seq}` || line.prev !== 0) say('its numbers are wrong');
    this.tasks.set(line.task_id, {
      state: 'WAITING',
      attempt: 0,
      eligibleAt: Math.max(line.at, line.not_before ?? 0),
      newest: line.seq,
      windowMs: line.execution_window_ms,
      lease: undefined,
    });
  }

  private happened(line: Line, task: Task, say: (what: string) => void): void {
    if (line.type === 'LeaseExtended') return this.extended(line, task, say);
    if (line.prev !== task.newest) say(`prev is ${line.prev}, not ${task.newest}`);
    switch (line.type) {
      case 'LeaseGranted':
        return this.leased(line, task, say);
      case 'LeaseExpired':
        this.ends(line, task, say);
        if (task.lease !== undefined && line.at < task.lease.expiry) say('before its expiry');
        task.state = 'WAITING';
        task.eligibleAt = line.at;
        break;
      case 'TaskCompleted':
      case 'TaskFailed':
        this.ends(line, task, say);
        this.outcome(line, say);
        if (task.lease !== undefined && line.at >= task.lease.expiry) say('at or after its expiry');
        task.state = line.type === 'TaskCompleted' ? 'COMPLETED' : 'FAILED';
        if (line.retry_at !== undefined) {
          task.state = 'WAITING';
          task.eligibleAt = line.retry_at;
        }
        break;
      case 'TaskCancelled':
        this.outcome(line, say);
        if (this.granted.get(line.lease_id) !== line.task_id) say('for a lease never granted');
        if (task.lease?.id === line.lease_id) say('for a lease that has authority');
        return;
      case 'TaskDead':
        if (task.state !== 'WAITING' && task.state !== 'LEASED') say(`from ${task.state}`);
        task.state = 'DEAD';
        break;
      default:
        say('no such type');
    }
    task.lease = undefined;
  }

  private leased(line: Line, task: Task, say: (what: string) => void): void {
    if (line.lease_id !== `L${line.seq}`) say('its number is wrong');
    if (task.state !== 'WAITING') say(`from ${task.state}: a second owner without a reason`);
    if (line.attempt !== task.attempt + 1) say(`attempt ${line.attempt} after ${task.attempt}`);
    if (line.at < task.eligibleAt) say(`before ${task.eligibleAt}, when it is eligible`);
    if (line.granted_at !== line.at) say('granted at another time');
    if (line.lease_expiry > line.granted_at + task.windowMs) say('beyond the window');
    if (line.lease_expiry <= line.granted_at) say('over when it begins');
    task.state = 'LEASED';
    task.attempt = line.attempt;
    const { lease_id: id, granted_at: grantedAt, lease_expiry: expiry } = line;
    task.lease = { id, grantedAt, expiry, extensions: 0, newestExtension: 0 };
    this.granted.set(id, line.task_id);
  }

  private extended(line: Line, task: Task, say: (what: string) => void): void {
    const { lease } = task;
    if (lease === undefined || lease.id !== line.lease_id) return say('no such lease is held');
    if (line.at >= lease.expiry) say('after its expiry: a lease came back');
    if (line.new_lease_expiry <= lease.expiry) say('it does not grow');
    if (line.new_lease_expiry > lease.grantedAt + task.windowMs) say('beyond the window');
    const before = lease.extensions === 0 ? Number(lease.id.slice(1)) : lease.newestExtension;
    if (line.prev !== before) say(`prev is ${line.prev}, not ${before}`);
    lease.expiry = line.new_lease_expiry;
    lease.extensions += 1;
    lease.newestExtension = line.seq;
  }

  private ends(line: Line, task: Task, say: (what: string) => void): void {
    const { lease } = task;
    if (lease === undefined || lease.id !== line.lease_id) return say('no such lease is held');
    if ((line.extensions ?? 0) !== lease.extensions) say('not its number of extensions');
    if ((line.last_extension ?? 0) !== lease.newestExtension) say('not its last extension');
  }

  private outcome(line: Line, say: (what: string) => void): void {
    const before = this.outcomes.get(line.lease_id);
    if (before !== undefined) say(`a second outcome of ${line.lease_id}, after ${before}`);
    this.outcomes.set(line.lease_id, line.seq);
  }
}
