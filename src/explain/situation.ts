// Owns the shape of a task's present situation. The sentences about now are made from this shape.

import type { TaskCreated } from '../model/records.ts';
import type { Standing } from '../model/response.ts';
import type { Budget, ExplainedAttempt, ExplainedStart, Fact } from './explanation.ts';
import type { Teller } from './names.ts';
import type { Run } from './overlaps.ts';
import type { EndRecord } from './summary.ts';

export interface Situation {
  readonly created: TaskCreated;
  readonly attempts: readonly ExplainedAttempt[];
  readonly starts: readonly ExplainedStart[];
  /** The tasks with the same content by redrive. */
  readonly relatives: readonly Run[];
  readonly own: Run;
  readonly budget: Budget;
  readonly over: EndRecord | undefined;
  readonly standing: Standing;
  readonly tell: Teller;
  /** False: read from a log alone, which does not tell who asks for tasks. */
  readonly advisory: boolean;
}

/** What is said of one state: what is true, and what will change it. */
export interface Told {
  readonly facts: readonly Fact[];
  readonly next: Fact;
}
