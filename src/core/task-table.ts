// Owns the rows of the remembered tasks: columns of numbers, and the free rows. Two columns have a
// meaning that depends on the task's state: a waiting task has a place in its queue and no lease;
// for any other task it is the other way round. Only the accessors below know this. Rows are
// written by apply.ts alone.

import { TASK_STATES, type TaskStateName } from '../model/request.ts';
import { u8Column, u16Column, u32Column, WideColumn } from './columns.ts';
import { IdDirectory } from './id-directory.ts';

/** No row, in links and results. */
export const NONE = 0xffff_ffff;
const DELAYED = 0xffff_fffe;
/** A weight from here on stands in a map: few tasks are so heavy, and each row counts. */
const HEAVY = 0xffff;

export class TaskTable {
  private readonly ids = new WideColumn();
  private readonly states = u8Column();
  private readonly attempts = u32Column();
  private readonly contracts = u32Column();
  private readonly lasts = new WideColumn();
  /** WAITING: eligible_at; else the last lease's id, 0 when there was none. */
  private readonly times = new WideColumn();
  /** WAITING: the record that made it so; COMPLETED, FAILED, DEAD: the record that ended it. */
  private readonly places = new WideColumn();
  private readonly nexts = u32Column();
  private readonly previouses = u32Column();
  private readonly weights = u16Column();
  private readonly heavy = new Map<number, number>();
  private readonly directory = new IdDirectory((row) => this.ids.get(row));
  private rows = 0;
  private readonly freeRows: number[] = [];
  size = 0;

  /** @returns the row of a remembered task, or NONE. */
  find(id: number): number {
    const row = this.directory.find(id);
    return row === -1 ? NONE : row;
  }

  /** Rows in ascending order of task ids, from the first id greater than `after`. */
  rowsAfter(after: number): Generator<number> {
    return this.directory.rowsAfter(after);
  }

  /** Rows in descending order of task ids, from the first id less than `before`. */
  rowsBefore(before: number): Generator<number> {
    return this.directory.rowsBefore(before);
  }

  id = (row: number): number => this.ids.get(row);
  state = (row: number): TaskStateName => TASK_STATES[this.states.get(row)] as TaskStateName;
  stateIndex = (row: number): number => this.states.get(row);
  attempt = (row: number): number => this.attempts.get(row);
  contract = (row: number): number => this.contracts.get(row);
  /** The task's newest record that is not a LeaseExtended: the next record's prev. */
  last = (row: number): number => this.lasts.get(row);
  /** Of a WAITING task. */
  eligibleAt = (row: number): number => this.times.get(row);
  /** Of a WAITING task: the record that made it WAITING. */
  place = (row: number): number => this.places.get(row);
  /** Of a task that is not WAITING: its current or last lease, 0 when it never had one. */
  leaseId = (row: number): number => this.times.get(row);
  /** Of a COMPLETED, FAILED or DEAD task: the record that ended it. */
  endRecord = (row: number): number => this.places.get(row);

  /** Bytes of the task's records in the log, about (log-bytes.ts). */
  weight(row: number): number {
    const weight = this.weights.get(row);
    return weight === HEAVY ? (this.heavy.get(row) as number) : weight;
  }

  add(id: number, contract: number): number {
    const row = this.freeRows.pop() ?? this.rows;
    if (row === this.rows) this.rows += 1;
    this.ids.set(row, id);
    this.attempts.set(row, 0);
    this.contracts.set(row, contract);
    this.lasts.set(row, id);
    this.weights.set(row, 0);
    this.directory.add(id, row);
    this.size += 1;
    return row;
  }

  remove(row: number): void {
    this.directory.remove(this.ids.get(row));
    this.heavy.delete(row);
    this.freeRows.push(row);
    this.size -= 1;
  }

  setWaiting(row: number, eligibleAt: number, record: number): void {
    this.states.set(row, 0);
    this.times.set(row, eligibleAt);
    this.places.set(row, record);
  }

  setLeased(row: number, leaseId: number, attempt: number): void {
    this.states.set(row, 1);
    this.times.set(row, leaseId);
    this.attempts.set(row, attempt);
  }

  setEnded(row: number, state: 'COMPLETED' | 'FAILED' | 'DEAD', lease: number, end: number): void {
    this.states.set(row, TASK_STATES.indexOf(state));
    this.times.set(row, lease);
    this.places.set(row, end);
  }

  setLast(row: number, record: number): void {
    this.lasts.set(row, record);
  }

  addWeight(row: number, weight: number): void {
    const sum = this.weight(row) + weight;
    this.weights.set(row, Math.min(sum, HEAVY));
    if (sum >= HEAVY) this.heavy.set(row, sum);
  }

  // Links: of a waiting task its neighbours in the queue's list, or its place in the queue's heap;
  // of an ended task the one that ended after it.
  next = (row: number): number => this.nexts.get(row);
  previous = (row: number): number => this.previouses.get(row);
  isDelayed = (row: number): boolean => this.previouses.get(row) === DELAYED;
  heapPlace = (row: number): number => this.nexts.get(row);

  setLinks(row: number, next: number, previous: number): void {
    this.nexts.set(row, next);
    this.previouses.set(row, previous);
  }
  setNext(row: number, next: number): void {
    this.nexts.set(row, next);
  }
  setPrevious(row: number, previous: number): void {
    this.previouses.set(row, previous);
  }
  setHeapPlace(row: number, place: number): void {
    this.nexts.set(row, place);
    this.previouses.set(row, DELAYED);
  }
}
