// Owns the comparison of the product's state with the model's book, task by task, and of what left
// the log with what was forgotten.

import type { State } from '../../../src/core/state.ts';
import { NONE } from '../../../src/core/task-table.ts';
import type { MemoryStore } from '../../../src/log/memory-store.ts';
import { type LogRecord, taskOf } from '../../../src/model/records.ts';
import type { Book } from '../model/book.ts';
import { heldLease, type ModelTask } from '../model/tasks.ts';
import { Violation } from './violation.ts';

export function checkAgreement(state: State, book: Book): void {
  const { tasks } = state;
  const remembered = book.waiting.size + book.leased.size + book.over.size;
  expectSame('tasks', 0, tasks.size, remembered);
  expectSame('request ids', 0, state.requestIds.size, book.requestIds.size);
  expectSame('last record', 0, state.lastSeq, book.lastSeq);
  expectSame('epoch', 0, state.epoch, book.epoch);
  for (const map of [book.waiting, book.leased, book.over]) {
    for (const task of map.values()) {
      const row = tasks.find(task.id);
      if (row === NONE) throw new Violation('agreement', `task ${task.id} is not in the state`);
      expectSame('state of', task.id, tasks.state(row), task.state);
      expectSame('attempt of', task.id, tasks.attempt(row), task.attempt);
      expectSame('newest record of', task.id, tasks.last(row), task.last);
      checkPlace(state, row, task);
    }
  }
}

function checkPlace(state: State, row: number, task: ModelTask): void {
  const { tasks } = state;
  if (task.state === 'WAITING') {
    expectSame('eligible_at of', task.id, tasks.eligibleAt(row), task.eligibleAt);
    expectSame('place of', task.id, tasks.place(row), task.place);
  }
  const held = heldLease(task);
  if (held === undefined) return;
  expectSame('lease of', task.id, tasks.leaseId(row), held.id);
  expectSame('expiry of lease', held.id, state.leases.get(held.id)?.expiry, held.expiry);
}

/** @param id of what it is of, 0: of the whole. Words are made only when they are needed. */
function expectSame(what: string, id: number, actual: unknown, expected: unknown): void {
  if (actual === expected) return;
  const named = id === 0 ? what : `${what} ${id}`;
  throw new Violation('agreement', `${named}: the state says ${actual}, the model ${expected}`);
}

/** A record that was durable and is not there: it must be declared, and its task forgotten. */
export function checkRemoved(store: MemoryStore, book: Book, record: LogRecord): void {
  const task = taskOf(record);
  const isForgotten = task !== 0 && book.find(task) === undefined;
  if (isForgotten && store.dropped.has(record.seq)) return;
  throw new Violation('durability', `record ${record.seq} (${record.type}) is gone`);
}
