// Owns the faults that are planted to test the simulator itself: each is a copy of the compiled
// product with a line or two changed, as somebody might write them by mistake. A checker that
// catches none of them proves nothing.

export interface Fault {
  readonly name: string;
  /** It is a fault of the simulator, not of the product. */
  readonly isOwn?: boolean;
  /** What stands once in the compiled product, or simulator; what stands there instead. */
  readonly changes: readonly (readonly [from: string, to: string])[];
  /** The checkers that may see it first, whatever the seed. */
  readonly seenBy: readonly string[];
}

const LATE_OFF = 'const over = record.at >= lease.expiry;';

export const FAULTS: readonly Fault[] = [
  {
    name: 'expiry is not checked before a request',
    changes: [
      [
        'return true;\n            if (this.expiredInGroup',
        'return true;\n            if (true) return true;\n            if (this.expiredInGroup',
      ],
      ['lease !== undefined && isOver(lease, now)', 'false'],
      [LATE_OFF, 'const over = record.type === "LeaseExpired";'],
    ],
    seenBy: ['model'],
  },
  {
    name: 'a lease is over one millisecond too late: > for >=',
    changes: [
      ['now >= lease.expiry', 'now > lease.expiry'],
      [LATE_OFF, 'const over = record.at > lease.expiry;'],
    ],
    seenBy: ['model'],
  },
  {
    name: 'a stale lease is accepted',
    changes: [
      [
        'if (lease?.leaseId === request.leaseId) return reported',
        'if (lease !== undefined)\n        return reported',
      ],
    ],
    seenBy: ['model'],
  },
  {
    name: 'answers leave before the flush',
    changes: [['if (!this.commits.hold(ticket, response, needsProof))', 'if (true)']],
    seenBy: ['order'],
  },
  {
    name: 'answers wait for the group in flight instead of the one that gathers',
    changes: [
      [
        'if (mustGather || this.gathering.records.length > 0)',
        'if (this.inFlight === undefined && this.gathering.records.length > 0)',
      ],
    ],
    seenBy: ['order'],
  },
  {
    name: 'a failed append is not undone in the state',
    changes: [
      [
        'if (this.options.log.lastNumber !== this.state.lastSeq)\n' +
          '                this.rebuild();\n            await this.becomeWriter();',
        'this.state.lastSeq = this.options.log.lastNumber;\n            await this.becomeWriter();',
      ],
    ],
    seenBy: ['model', 'exception'],
  },
  {
    name: 'who was in the group behind the failed one is not told',
    changes: [['...group.answers, ...after.answers', '...group.answers']],
    seenBy: ['liveness', 'answers'],
  },
  {
    name: 'one retry too few',
    changes: [
      [
        'attempt - after.released > policy.maxRetries',
        'attempt - after.released >= policy.maxRetries',
      ],
    ],
    seenBy: ['model'],
  },
  {
    name: 'the first backoff is already multiplied',
    changes: [['(after.failures - 1)', '(after.failures)']],
    seenBy: ['model'],
  },
  {
    name: 'a backoff is no whole number of milliseconds',
    changes: [['Math.floor(policy.backoffMs', '(policy.backoffMs']],
    seenBy: ['model', 'exception'],
  },
  {
    name: 'a released task waits as long as a failed one',
    changes: [['Math.min(policy.backoffMs, RELEASED_WAIT_MAX_MS)', 'policy.backoffMs']],
    seenBy: ['model'],
  },
  {
    name: 'a released attempt is charged',
    changes: [['FREE_RELEASES_IN_ROW ? 1 : 0', 'FREE_RELEASES_IN_ROW ? 0 : 0']],
    seenBy: ['model'],
  },
  {
    name: 'a heartbeat goes beyond the execution window',
    changes: [
      ['Math.min(now + knobs.leaseDurationMs, lease.deadline)', 'now + knobs.leaseDurationMs'],
      ['record.newLeaseExpiry <= lease.deadline', 'true'],
    ],
    seenBy: ['model'],
  },
  {
    name: 'a request id is forgotten on replay',
    changes: [
      [
        '`${record.type}: ${refused}`); applyChecked(state, record, subject);',
        '`${record.type}: ${refused}`); ' +
          'applyChecked(state, { ...record, requestId: undefined }, subject);',
      ],
    ],
    seenBy: ['model', 'digest', 'agreement'],
  },
  {
    name: 'a second TaskCancelled for one lease',
    changes: [
      ['if (ended?.outcome === undefined)', "if (ended?.outcome !== 'COMMITTED')"],
      ["ended.outcome === undefined ? undefined : 'the lease has an outcome already'", 'undefined'],
    ],
    seenBy: ['model'],
  },
  {
    name: 'the count of a state is not kept',
    changes: [
      [
        "count(state, row, -1);\n    state.tasks.setEnded(row, 'COMPLETED'",
        "state.tasks.setEnded(row, 'COMPLETED'",
      ],
    ],
    seenBy: ['invariants', 'model'],
  },
  {
    name: 'a worker is believed to hold a lease that it lost',
    changes: [['this.heldBy(lease.workerId) - 1', 'this.heldBy(lease.workerId)']],
    seenBy: ['model', 'invariants'],
  },
  {
    name: 'the heap of expiries is not moved by a heartbeat',
    changes: [['this.byExpiry.moved(lease);', '']],
    seenBy: ['model', 'invariants'],
  },
  {
    name: 'the log does not fence an older writer',
    changes: [['if (skippedFrom !== this.last + 1)', 'if (false)']],
    seenBy: ['fencing'],
  },
  {
    name: 'coordinator time goes back with the wall clock over a restart',
    changes: [
      ['Math.max(wall, lastAt)', 'wall'],
      ['Math.max(this.recovery.time.now(), this.state.lastAt)', 'this.recovery.time.now()'],
      ['if (record.at < state.lastAt)', 'if (false)'],
    ],
    seenBy: ['model', 'facts', 'exception'],
  },
  {
    name: 'poison one expiry too late',
    changes: [['expirationsInRow ?? 0) >= threshold', 'expirationsInRow ?? 0) > threshold']],
    seenBy: ['model'],
  },
  {
    name: 'tasks that came back are leased before older ones',
    changes: [['return before(table, due, this.head) ? due : this.head;', 'return due;']],
    seenBy: ['model'],
  },
  {
    name: 'a worker gets one lease more than its capacity',
    changes: [['return capacity - leases', 'return capacity + 1 - leases']],
    seenBy: ['model'],
  },
  {
    name: 'a parked request is not woken by a task that comes back',
    changes: [
      [
        "if (name === 'WAITING')\n            this.woken.add",
        "if (name === 'WAITING')\n            void",
      ],
    ],
    seenBy: ['model'],
  },
  {
    name: 'a redriven task is forgotten before its origin',
    changes: [
      ['return origin !== undefined && state.tasks.find(origin) !== NONE;', 'return false;'],
    ],
    seenBy: ['model'],
  },
  {
    name: 'a task that was redriven is redriven again',
    changes: [
      ['if (before !== undefined)', 'if (false)'],
      ['if (state.redrivenAs.has(origin))', 'if (false)'],
    ],
    seenBy: ['model'],
  },
  {
    name: 'overdue leases are not expired at recovery',
    changes: [['more = !this.loop.expireDue(now);', 'more = false;']],
    seenBy: ['model'],
  },
  {
    name: 'the log loses a field',
    changes: [["f.time('retry_at', r.retryAt)", "f.time('retry_at', f.at)"]],
    seenBy: ['durability', 'exception'],
  },
  {
    name: 'the log says durable before it is',
    changes: [
      [
        'return this.asked(() => this.store.commit(first, skippedFrom, entries));',
        'return this.asked(() => {\n' +
          'setTimeout(() => this.store.commit(first, skippedFrom, entries), 1);\n' +
          'return true; });',
      ],
    ],
    seenBy: ['order', 'durability'],
  },
  {
    name: 'a read does not wait for the flush of what it saw',
    changes: [
      [
        'new Reading(this.turn,',
        'new Reading(Object.create(this.turn, { answer: { value: events.answer } }),',
      ],
    ],
    seenBy: ['order'],
  },
  {
    name: 'one request id for two contents',
    changes: [['if (state.requestIds.hasContent(submitted, digestOf(contentHash)))', 'if (true)']],
    seenBy: ['model'],
  },
  {
    name: 'a worker counts its lease from the answer, not from the question',
    changes: [['input.sentAtMs + input.leaseMs', 'input.nowMs + input.leaseMs']],
    seenBy: ['belief'],
  },
  {
    name: 'parked requests are not answered at a stop',
    changes: [['this.granting.hurryAll(this.now());', 'void 0;']],
    seenBy: ['answers'],
  },
  {
    name: 'history is forgotten right after the clock has jumped a day',
    changes: [['now < state.jumpedAt + CAUTION_AFTER_JUMP_MS', 'false']],
    seenBy: ['model'],
  },
  {
    name: 'a restored log issues its numbers twice',
    changes: [['this.state.lastSeq + 1 + this.skip', 'this.state.lastSeq + 1']],
    seenBy: ['model'],
  },
  {
    name: 'records of remembered tasks are removed',
    changes: [
      ['return task < segment.first && !this.log.dropped.has(task);', 'return false;'],
      ['this.state().tasks.find(task) !== NONE', 'false'],
    ],
    seenBy: ['durability', 'exception', 'agreement'],
  },
];
