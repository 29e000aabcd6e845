// Owns the explanation of one task. It is a pure function of the task's own records and of the
// state in which the task is now. Every statement names the records that it rests on and claims no
// more than they show.

import { invariant } from '../model/assert.ts';
import type { CoordinatorStarted, LogRecord } from '../model/records.ts';
import type { Standing } from '../model/response.ts';
import { attemptsOf } from './attempts.ts';
import { budgetOf } from './budget.ts';
import { beginOf, type Course, endOfLast, noBegin } from './causes.ts';
import { effectStatements } from './effects.ts';
import type {
  Between,
  ExplainedStart,
  Explanation,
  Overlap,
  Restored,
  Statement,
} from './explanation.ts';
import { lateReportOf } from './late-reports.ts';
import { teller } from './names.ts';
import { explainNow } from './now.ts';
import { generalStatements, overlapStatements } from './overlap-sentences.ts';
import { overlapsOf, type Run } from './overlaps.ts';
import { heirStatement, originStatement, type RelativeStory, runOf } from './relatives.ts';
import { clockOf, noStart, startStatements } from './restarts.ts';
import { lostOf, overlapLacks, restoresOf } from './restores.ts';
import { explainRecords } from './rows.ts';
import { type EndRecord, endOf, isPoisoned, overBy, summaryOf } from './summary.ts';
import { waitOf } from './waits.ts';

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
  /** By lease: what other tasks' records tell of the wait before its grant. */
  readonly between?: ReadonlyMap<number, Between> | undefined;
  /** The tasks that a redrive connects this one with, as far as the log has them. */
  readonly relatives?: readonly RelativeStory[] | undefined;
}

export interface StartRead {
  readonly record: CoordinatorStarted;
  /** The `at` of the record before it. */
  readonly lastAliveAt?: number | undefined;
  readonly restored?: Restored | undefined;
}

export function explain(story: TaskStory): Explanation {
  const { records, standing } = story;
  const created = records[0];
  invariant(created?.type === 'TaskCreated', 'task', standing.taskId, 'has no TaskCreated');
  const tell = teller(created.at);
  const starts = startsIn(story);
  const attempts = attemptsOf(created, records).map((attempt) => ({
    ...attempt,
    wait: waitOf(attempt, starts, story.between?.get(attempt.leaseId)),
  }));
  const course = { created, attempts, starts, tell };
  const over = overBy(records);
  const restored = starts.filter((start) => start.restored !== undefined);
  const lost = lostOf(
    restored.map(({ seq }) => seq),
    over,
  );
  const own = { taskId: created.seq, attempts, ...lost };
  const since = story.starts.filter((start) => start.restored !== undefined);
  const seqs = since.map(({ record }) => record.seq);
  const runs = (story.relatives ?? []).map((relative) => ({
    ...relative,
    ...runOf(relative, seqs),
  }));
  const overlaps = allOverlaps(own, runs);
  const advisory = story.advisory ?? true;
  const budget = budgetOf(created, attempts, standing, advisory);
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
    summary: summaryOf(standing, attempts, own.restores),
    records: explainRecords(records, tell, isPoisoned(over, attempts)),
    recordsLeftOut: beats + (story.leftOut ?? 0),
    attempts,
    budget,
    starts,
    startsLeftOut: leftOutOf(standing, starts),
    statements: [
      ...inOrder(whyStatements(course, story, over)),
      ...overlapStatements(overlaps, [own, ...runs], tell),
      ...generalStatements(own, overlaps, runs),
      ...overlapLacks(restoresOf([own, ...runs])),
      ...effectStatements(created, own, standing.redrivenAs, runs),
    ],
    overlaps,
    now: explainNow({
      ...course,
      own,
      relatives: runs,
      budget,
      over,
      standing,
      advisory,
    }),
  };
}

/** What happened and why, an event each. */
function whyStatements(
  course: Course,
  { records, standing, relatives = [] }: TaskStory,
  over: EndRecord | undefined,
): Statement[] {
  const { created, attempts, starts, tell } = course;
  const { redrivenAs } = standing;
  const relative = (wanted: RelativeStory['role']): RelativeStory | undefined =>
    relatives.find(({ role }) => role === wanted);
  // An origin with more records than are read is kept, although its story is not here.
  const isOriginKept = (standing.relatives ?? relatives).some(({ role }) => role === 'origin');
  const statements = [
    ...originStatement(created, relative('origin'), isOriginKept, tell),
    ...(attempts.length === 0 ? [noBegin(course)] : []),
    ...attempts.map((_, index) => beginOf(course, index)),
    ...(standing.state === 'WAITING' ? [endOfLast(course)] : []),
    ...attempts.map((attempt) => lateReportOf(attempt, attempts, over, tell)),
    ...startStatements(starts, records, attempts, { over, redrivenAs }, tell),
    ...starts.map((start) => clockOf(start, tell)),
    endOf(over, attempts, created.retryPolicy.maxRetries, tell),
    ...heirStatement(redrivenAs, relative('heir'), tell),
    ...(starts.length === 0 ? [noStart(records)] : []),
  ];
  return statements.filter((statement) => statement !== undefined);
}

/** Within the task, and with the tasks that have the same content by redrive. */
function allOverlaps(own: Run, relatives: readonly (RelativeStory & Run)[]): Overlap[] {
  return [
    ...relatives.filter(({ role }) => role === 'origin').flatMap((run) => overlapsOf(run, own)),
    ...overlapsOf(own, own),
    ...relatives.filter(({ role }) => role === 'heir').flatMap((run) => overlapsOf(own, run)),
  ];
}

/**
 * Starts between the task's creation and its last record; all since then while it is not over, and
 * those on a restored log while it can be redriven.
 */
function startsIn({ records, starts, standing }: TaskStory): ExplainedStart[] {
  const first = records[0]?.seq ?? 0;
  const last = records.at(-1)?.seq ?? 0;
  const open = standing.state === 'WAITING' || standing.state === 'LEASED';
  const cutAt = (standing.startsLeftOut ?? 0) > 0 ? standing.starts[0] : undefined;
  return starts
    .filter(({ record, restored }) => {
      const isRedriven = (standing.redrivenAs ?? record.seq) < record.seq;
      const canBe = restored !== undefined && standing.state !== 'COMPLETED' && !isRedriven;
      return record.seq > first && (open || canBe || record.seq < last);
    })
    .map(({ record, lastAliveAt, restored }) => ({
      seq: record.seq,
      at: record.at,
      // Before the first of a list that was cut, the coordinator may have been down at any time.
      lastAliveAt: record.seq === cutAt ? undefined : lastAliveAt,
      restored,
      clockOffsetMs: record.at - record.startedAt,
    }));
}

/** Of the older ones, those on a restored log are listed. */
function leftOutOf(standing: Standing, starts: readonly ExplainedStart[]): number {
  const [first = 0] = standing.starts;
  return (standing.startsLeftOut ?? 0) - starts.filter(({ seq }) => seq < first).length;
}

/** By the record of the event that a statement tells: the order of time. */
const inOrder = (statements: readonly Statement[]): Statement[] =>
  statements.toSorted((a, b) => (a.record ?? 0) - (b.record ?? 0));
