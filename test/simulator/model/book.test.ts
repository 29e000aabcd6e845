// Owns the proof that a look at everything finds what the model's short cuts have wrong, and that
// taking records back leaves nothing of them.

import { expect } from 'chai';
import type { LogRecord, TaskCreated } from '../../../src/model/records.ts';
import { Book } from './book.ts';
import type { ModelTask } from './tasks.ts';

const created = (seq: number, notBefore?: number): TaskCreated => ({
  type: 'TaskCreated',
  seq,
  at: 100,
  prev: 0,
  queue: 'q',
  payload: new Uint8Array(),
  executionWindowMs: 50,
  retryPolicy: { maxRetries: 1, backoffMs: 0, backoffFactor: 1, backoffMaxMs: undefined },
  notBefore,
});

const granted = (seq: number, taskId: number): LogRecord => ({
  type: 'LeaseGranted',
  seq,
  at: 100,
  prev: taskId,
  taskId,
  workerId: 'w',
  attempt: 1,
  leaseExpiry: 150,
  grantedAt: 100,
});

/** Tasks 1 (later), 2, and 3, which is leased. */
function someBook(): Book {
  const book = new Book();
  for (const record of [created(1, 120), created(2), created(3), granted(4, 3)]) book.apply(record);
  return book;
}
const taskOf = (book: Book, id: number): ModelTask => book.find(id) as ModelTask;

describe('simulator: the model and its short cuts', () => {
  it('agree', () => {
    const book = someBook();
    expect(book.broken()).to.equal(undefined);
    expect(book.order.firstEligible(['q'], 130)?.id).to.equal(2);
    expect(book.order.ahead(taskOf(book, 1))).to.equal(1);
    expect(book.order.heldBy('w')).to.equal(1);
  });

  it('a task that is missing in the order of its queue, and one too many, are found', () => {
    const book = someBook();
    book.order.changed(taskOf(book, 1), undefined);
    expect(book.broken()).to.equal('the order of queue q');
    const other = someBook();
    other.order.changed(undefined, taskOf(someBook(), 2));
    expect(other.broken()).to.equal('the order of queue q');
  });

  it('a lease that is counted and not held is found', () => {
    const book = someBook();
    book.order.changed(undefined, taskOf(book, 3));
    expect(book.broken()).to.equal('the leases of w');
  });

  it('a lease that runs out before the soonest that is known is found', () => {
    const book = someBook();
    book.soonestExpiry = 151;
    expect(book.broken()).to.match(/soonest expiry/);
  });

  it('a task in two places is found', () => {
    const book = someBook();
    book.over.set(2, taskOf(book, 2));
    expect(book.broken()).to.equal('the number of tasks');
  });

  it('records that are taken back leave nothing', () => {
    const book = someBook();
    book.backTo(2);
    expect(book.broken()).to.equal(undefined);
    expect([...book.waiting.keys()]).to.deep.equal([1, 2]);
    expect([book.leased.size, book.lastSeq, book.order.heldBy('w')]).to.deep.equal([0, 2, 0]);
  });
});
