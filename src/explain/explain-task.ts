// Owns the explanation of one task: pure, made from the task's own records and where the task
// stands now. Every statement names the records that it rests on, and none goes beyond them.

import { invariant } from '../model/assert.ts';
import { formatTaskId } from '../model/ids.ts';
import type { CoordinatorStarted, LogRecord } from '../model/records.ts';
import type { Standing } from '../model/response.ts';
import { attemptsOf } from './attempts.ts';
import { causeOf, clockOf, lateReportOf, startOf } from './causes.ts';
import { effectStatement, overlapStatements } from './effects.ts';
import type { ExplainedAttempt, ExplainedStart, Explanation, Statement } from './explanation.ts';
import { teller } from './names.ts';
import { explainNow } from './now.ts';
import { overlapsOf } from './overlaps.ts';
import { explainRecords } from './rows.ts';
import { endOf, overBy, summaryOf } from './summary.ts';

/** What is to be explained; everything in it was read from the log, but for `standing`. */
export interface TaskStory {
  /** The task's records in ascending order, its TaskCreated first. */
  readonly records: readonly LogRecord[];
  /** Starts of the coordinator after the task's creation. */
  readonly starts: readonly StartRead[];
  readonly standing: Standing;
  /** Records that exist and were not read, besides those that the attempts' counts tell of. */
  readonly leftOut?: number | undefined;
  /** False: `standing` was read off a replayed log, not asked of a running coordinator. */
  readonly advisory?: boolean | undefined;
}

export interface StartRead {
  readonly record: CoordinatorStarted;
  /** The `at` of the record before it. */
  readonly lastAliveAt?: number | undefined;
}

/** A crash loop can make thousands; the newest are told. */
const STARTS_TOLD = 20;

export function explain(story: TaskStory): Explanation {
  const { records, standing } = story;
  const created = records[0];
  invariant(created?.type === 'TaskCreated', `task ${standing.taskId} has no TaskCreated`);
  const tell = teller(created.at);
  const attempts = attemptsOf(created, records);
  const overlaps = overlapsOf(attempts);
  const starts = startsIn(story);
  const over = overBy(records);
  const beats = attempts.reduce((sum, one) => sum + one.extensions - one.heartbeats.length, 0);
  return {
    taskId: created.seq,
    queue: created.queue,
    state: standing.state,
    createdAt: created.at,
    maxRetries: created.retryPolicy.maxRetries,
    executionWindowMs: created.executionWindowMs,
    originTaskId: created.originTaskId,
    redrivenAs: standing.redrivenAs,
    summary: summaryOf(standing, attempts),
    records: explainRecords(records, tell),
    recordsLeftOut: beats + (story.leftOut ?? 0),
    attempts,
    starts,
    statements: [
      ...originOf(created.seq, created.originTaskId),
      ...inOrder([
        ...causes(attempts, starts, story),
        ...attempts.map((attempt) => lateReportOf(attempt, attempts, over, tell)),
        ...starts.map((start) => startOf(start, attempts, over, tell)),
        ...starts.map((start) => clockOf(start, tell)),
        endOf(over, attempts, created.retryPolicy.maxRetries, tell),
      ]),
      ...overlapStatements(overlaps, attempts, tell),
      ...present([effectStatement(created, attempts, standing.redrivenAs)]),
    ],
    overlaps,
    now: explainNow({
      created,
      attempts,
      standing,
      tell,
      startedAt: starts.at(-1)?.at,
      advisory: story.advisory ?? true,
    }),
  };
}

function causes(
  attempts: readonly ExplainedAttempt[],
  starts: readonly ExplainedStart[],
  story: TaskStory,
): Statement[] {
  const tell = teller(story.records[0]?.at ?? 0);
  return attempts
    .slice(1)
    .map((attempt, index) => causeOf(attempts[index] as ExplainedAttempt, attempt, starts, tell));
}

/** Starts between the task's creation and its last record; all since then while it is not over. */
function startsIn({ records, starts, standing }: TaskStory): ExplainedStart[] {
  const first = records[0]?.seq ?? 0;
  const last = records.at(-1)?.seq ?? 0;
  const open = standing.state === 'WAITING' || standing.state === 'LEASED';
  return starts
    .filter(({ record }) => record.seq > first && (open || record.seq < last))
    .slice(-STARTS_TOLD)
    .map(({ record, lastAliveAt }) => ({
      seq: record.seq,
      at: record.at,
      lastAliveAt,
      clockOffsetMs: record.at - record.startedAt,
    }));
}

function originOf(taskId: number, originTaskId: number | undefined): Statement[] {
  if (originTaskId === undefined) return [];
  const text =
    `${formatTaskId(taskId)} is a redrive: it has the content of ` +
    `${formatTaskId(originTaskId)}, which ended as FAILED or DEAD. What was done as ` +
    `${formatTaskId(originTaskId)} is told by its own explain; if it was killed while held, its ` +
    'worker may work beside this one.';
  return [{ topic: 'origin', text, records: [originTaskId, taskId] }];
}

/** By the record that completes what a statement tells: the order in which things became known. */
function inOrder(statements: readonly (Statement | undefined)[]): Statement[] {
  const last = ({ records }: Statement): number => records.at(-1) ?? 0;
  return present(statements).toSorted((a, b) => last(a) - last(b));
}

const present = (statements: readonly (Statement | undefined)[]): Statement[] =>
  statements.filter((statement) => statement !== undefined);
