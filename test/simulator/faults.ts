// Owns the faults that are planted to test the simulator itself: each is a copy of the compiled
// product with a line or two changed, as somebody might write them by mistake. A checker that
// catches none of them proves nothing.

export interface Fault {
  readonly name: string;
  /** A file below dist/src, or dist/test/…; what stands in it once; what stands there instead. */
  readonly changes: readonly (readonly [file: string, from: string, to: string])[];
  /** The checkers that may see it first, whatever the seed. */
  readonly seenBy: readonly string[];
}

const LATE_OFF = ['core/check.js', 'const over = record.at >= lease.expiry;'] as const;

export const FAULTS: readonly Fault[] = [
  {
    name: 'expiry is not checked before a request',
    changes: [
      [
        'loop/expiry.js',
        'return true;\n            if (this.expiredInGroup',
        'return true;\n            if (true) return true;\n            if (this.expiredInGroup',
      ],
      ['loop/expiry.js', 'if (lease !== undefined && isOver(lease, now))', 'if (false)'],
      [...LATE_OFF, 'const over = record.type === "LeaseExpired";'],
    ],
    seenBy: ['model'],
  },
  {
    name: 'a lease is over one millisecond too late: > for >=',
    changes: [
      ['core/lease-manager.js', 'now >= lease.expiry', 'now > lease.expiry'],
      [...LATE_OFF, 'const over = record.at > lease.expiry;'],
    ],
    seenBy: ['model'],
  },
  {
    name: 'a stale lease is accepted',
    changes: [
      [
        'core/choose.js',
        'if (lease !== undefined)\n        return reported',
        'const row = context.state.tasks.find(request.taskId);\n' +
          'const held = context.state.leases.get(context.state.tasks.leaseId(row));\n' +
          'if (lease === undefined && held?.row === row) ' +
          'return reported(context, held, request, now);\n' +
          'if (lease !== undefined)\n        return reported',
      ],
    ],
    seenBy: ['model'],
  },
  {
    name: 'answers leave before the flush',
    changes: [['loop/coordinator.js', 'if (!this.commits.hold(ticket, response))', 'if (true)']],
    seenBy: ['order'],
  },
  {
    name: 'answers wait for the group in flight instead of the one that gathers',
    changes: [
      [
        'loop/group-commit.js',
        'if (this.gathering.records.length > 0) {\n            this.gathering',
        'if (this.inFlight === undefined && this.gathering.records.length > 0) {\n' +
          '            this.gathering',
      ],
    ],
    seenBy: ['order'],
  },
  {
    name: 'a failed append is not undone in the state',
    changes: [
      [
        'loop/recovery.js',
        "this.enter('rebuilding');\n        try {\n            await this.options.log.reopen();\n" +
          '            if (this.options.log.lastNumber !== this.state.lastSeq)',
        "this.enter('rebuilding');\n        try {\n            await this.options.log.reopen();\n" +
          '            this.state.lastSeq = this.options.log.lastNumber;\n            if (false)',
      ],
    ],
    seenBy: ['model', 'exception'],
  },
  {
    name: 'who was in the group behind the failed one is not told',
    changes: [['loop/group-commit.js', '...group.answers, ...after.answers', '...group.answers']],
    seenBy: ['liveness', 'answers'],
  },
  {
    name: 'one retry too few',
    changes: [
      [
        'core/retry-policy.js',
        'attempt - after.released > policy.maxRetries',
        'attempt - after.released >= policy.maxRetries',
      ],
    ],
    seenBy: ['model'],
  },
  {
    name: 'the first backoff is already multiplied',
    changes: [['core/retry-policy.js', '(after.failures - 1)', '(after.failures)']],
    seenBy: ['model'],
  },
  {
    name: 'a backoff is no whole number of milliseconds',
    changes: [['core/retry-policy.js', 'Math.floor(policy.backoffMs', '(policy.backoffMs']],
    seenBy: ['model', 'exception'],
  },
  {
    name: 'a released task waits as long as a failed one',
    changes: [
      [
        'core/retry-policy.js',
        'Math.min(policy.backoffMs, RELEASED_WAIT_MAX_MS)',
        'policy.backoffMs',
      ],
    ],
    seenBy: ['model'],
  },
  {
    name: 'a released attempt is charged',
    changes: [
      ['core/retry-policy.js', 'FREE_RELEASES_IN_ROW ? 1 : 0', 'FREE_RELEASES_IN_ROW ? 0 : 0'],
    ],
    seenBy: ['model'],
  },
  {
    name: 'a heartbeat goes beyond the execution window',
    changes: [
      [
        'core/lease-manager.js',
        'Math.min(now + knobs.leaseDurationMs, lease.deadline)',
        'now + knobs.leaseDurationMs',
      ],
      ['core/check.js', 'record.newLeaseExpiry <= lease.deadline', 'true'],
    ],
    seenBy: ['model'],
  },
  {
    name: 'a request id is forgotten on replay',
    changes: [
      [
        'loop/replay.js',
        'applyChecked(state, record);',
        'applyChecked(state, { ...record, requestId: undefined });',
      ],
    ],
    seenBy: ['model', 'digest', 'agreement'],
  },
  {
    name: 'a second TaskCancelled for one lease',
    changes: [
      [
        'core/validate.js',
        'if (ended?.outcome === undefined)',
        "if (ended?.outcome !== 'COMMITTED')",
      ],
      [
        'core/check.js',
        "ended.outcome === undefined ? undefined : 'the lease has an outcome already'",
        'undefined',
      ],
    ],
    seenBy: ['model'],
  },
  {
    name: 'the count of a state is not kept',
    changes: [
      [
        'core/apply.js',
        "count(state, row, -1);\n    state.tasks.setEnded(row, 'COMPLETED'",
        "state.tasks.setEnded(row, 'COMPLETED'",
      ],
    ],
    seenBy: ['invariants', 'model'],
  },
  {
    name: 'a worker is believed to hold a lease that it lost',
    changes: [['core/leases.js', 'this.heldBy(lease.workerId) - 1', 'this.heldBy(lease.workerId)']],
    seenBy: ['model', 'invariants'],
  },
  {
    name: 'the heap of expiries is not moved by a heartbeat',
    changes: [['core/leases.js', 'this.byExpiry.moved(lease);', '']],
    seenBy: ['model', 'invariants'],
  },
  {
    name: 'the log does not fence an older writer',
    changes: [['log/memory-store.js', 'if (skippedFrom !== this.last + 1)', 'if (false)']],
    seenBy: ['fencing'],
  },
  {
    name: 'coordinator time goes back with the wall clock over a restart',
    changes: [
      ['loop/coordinator-time.js', 'Math.max(wall, lastAt)', 'wall'],
      [
        'loop/coordinator.js',
        'Math.max(this.recovery.time.now(), this.state.lastAt)',
        'this.recovery.time.now()',
      ],
      ['core/check.js', 'if (record.at < state.lastAt)', 'if (false)'],
    ],
    seenBy: ['model', 'facts', 'exception'],
  },
  {
    name: 'poison one expiry too late',
    changes: [
      [
        'core/lease-manager.js',
        'expirationsInRow ?? 0) >= threshold',
        'expirationsInRow ?? 0) > threshold',
      ],
    ],
    seenBy: ['model'],
  },
  {
    name: 'tasks that came back are leased before older ones',
    changes: [
      ['core/queue.js', 'return before(table, due, this.head) ? due : this.head;', 'return due;'],
    ],
    seenBy: ['model'],
  },
  {
    name: 'a worker gets one lease more than its capacity',
    changes: [
      ['core/worker-registry.js', 'return capacity - leases', 'return capacity + 1 - leases'],
    ],
    seenBy: ['model'],
  },
  {
    name: 'a parked request is not woken by a task that comes back',
    changes: [
      [
        'loop/granting.js',
        "if (name === 'WAITING')\n            this.woken.add",
        "if (name === 'WAITING')\n            void",
      ],
    ],
    seenBy: ['model'],
  },
  {
    name: 'a redriven task is forgotten before its origin',
    changes: [
      [
        'core/forgetting.js',
        'return origin !== undefined && state.tasks.find(origin) !== NONE;',
        'return false;',
      ],
    ],
    seenBy: ['model'],
  },
  {
    name: 'a task that was redriven is redriven again',
    changes: [
      ['core/choose.js', 'if (before !== undefined)', 'if (false)'],
      ['core/check.js', 'if (state.redrivenAs.has(origin))', 'if (false)'],
    ],
    seenBy: ['model'],
  },
  {
    name: 'overdue leases are not expired at recovery',
    changes: [['loop/recovery.js', 'more = !this.loop.expireDue(now);', 'more = false;']],
    seenBy: ['model'],
  },
  {
    name: 'the log loses a field',
    changes: [
      [
        'log/write-record.js',
        'writeTime(out, record.at, record.retryAt)',
        'writeTime(out, record.at, record.at)',
      ],
    ],
    seenBy: ['durability', 'exception'],
  },
  {
    name: 'the log says durable before it is',
    changes: [
      [
        'log/memory-log.js',
        'const written = this.store.commit(commit.first, commit.skippedFrom, commit.entries);',
        'setTimeout(() => ' +
          'this.store.commit(commit.first, commit.skippedFrom, commit.entries), 1);\n' +
          '        const written = true;',
      ],
    ],
    seenBy: ['order', 'durability'],
  },
  {
    name: 'a read does not wait for the flush of what it saw',
    changes: [
      [
        'loop/coordinator.js',
        'new Reading(this.turn,',
        'new Reading(Object.create(this.turn, { answer: { value: events.answer } }),',
      ],
    ],
    seenBy: ['order'],
  },
  {
    name: 'one request id for two contents',
    changes: [
      [
        'core/validate.js',
        'if (row === NONE || state.requestIds.hasContent(row, digestOf(request.contentHash)))',
        'if (true)',
      ],
    ],
    seenBy: ['model'],
  },
  {
    name: 'a worker counts its lease from the answer, not from the question',
    changes: [
      ['client/heartbeat.js', 'input.sentAtMs + input.leaseMs', 'input.nowMs + input.leaseMs'],
    ],
    seenBy: ['belief'],
  },
  {
    name: 'parked requests are not answered at a stop',
    changes: [['loop/coordinator.js', 'this.granting.hurryAll(this.now());', 'void 0;']],
    seenBy: ['answers'],
  },
  {
    name: 'history is forgotten right after the clock has jumped a day',
    changes: [['loop/coordinator.js', ' && recovery.time.mayForget(now)', '']],
    seenBy: ['model'],
  },
  {
    name: 'a restored log issues its numbers twice',
    changes: [['loop/recovery.js', 'this.state.lastSeq + 1 + this.skip', 'this.state.lastSeq + 1']],
    seenBy: ['model'],
  },
  {
    name: 'records of remembered tasks are removed',
    changes: [
      [
        'loop/removal.js',
        'return task < segment.first && !this.log.dropped.has(task);',
        'return false;',
      ],
      ['loop/removal.js', 'this.state().tasks.find(task) !== NONE', 'false'],
    ],
    seenBy: ['durability', 'exception', 'agreement'],
  },
];
