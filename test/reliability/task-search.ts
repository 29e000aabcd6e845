// Owns the second opinion on a history: for each task alone, is there any order of its requests
// that agrees with calls and returns and in which every answer makes sense? It looks at no log and
// knows no number; what happens by time alone (a lease that runs out, the poison rule) may happen
// whenever it helps.

import type { Fields } from '../support/server.ts';
import type { Asked } from './traffic.ts';

/** Expiries in a row from which the poison rule may end a task. */
export interface SearchRules {
  readonly poisonThreshold: number;
}

interface Step {
  readonly called: number;
  readonly returned: number;
  readonly text: string;
  /** @returns the task after it, or undefined when it cannot have been answered so. */
  readonly next: (task: Task) => Task | undefined;
}

interface Task {
  readonly state: string;
  readonly attempt: number;
  /** In the order of their grants. */
  readonly leases: readonly string[];
  readonly held: string | undefined;
  readonly outcomes: Readonly<Record<string, string>>;
  readonly redrivenAs: string | undefined;
  readonly expiries: number;
}

const NONE: Task = {
  state: 'NONE',
  attempt: 0,
  leases: [],
  held: undefined,
  outcomes: {},
  redrivenAs: undefined,
  expiries: 0,
};
const OVER = new Set(['COMPLETED', 'FAILED', 'DEAD']);

/** @returns a sentence for every task whose answers no order explains. */
export function searchTasks(history: readonly Asked[], rules: SearchRules): string[] {
  const byTask = new Map<string, Step[]>();
  for (const asked of history) {
    for (const [task, step] of stepsOf(asked)) {
      const steps = byTask.get(task) ?? [];
      steps.push(step);
      byTask.set(task, steps);
    }
  }
  return [...byTask].flatMap(([task, steps]) => {
    steps.sort((a, b) => a.called - b.called);
    if (new Search(steps, rules).finds()) return [];
    return [`no order explains ${task}:\n  ${steps.map(({ text }) => text).join('\n  ')}`];
  });
}

class Search {
  readonly #steps: readonly Step[];
  readonly #rules: SearchRules;
  readonly #failed = new Set<string>();

  constructor(steps: readonly Step[], rules: SearchRules) {
    this.#steps = steps;
    this.#rules = rules;
  }

  finds(): boolean {
    return this.#from(NONE, new Set());
  }

  #from(task: Task, done: ReadonlySet<number>): boolean {
    if (done.size === this.#steps.length) return true;
    const key = `${[...done].toSorted((a, b) => a - b)} ${JSON.stringify(task)}`;
    if (this.#failed.has(key)) return false;
    const left = this.#steps.flatMap((step, place) => (done.has(place) ? [] : [{ step, place }]));
    const firstReturn = Math.min(...left.map(({ step }) => step.returned));
    for (const { step, place } of left) {
      if (step.called > firstReturn) break; // Another one had returned before it was called.
      for (const before of this.#withTime(task)) {
        const after = step.next(before);
        if (after !== undefined && this.#from(after, new Set([...done, place]))) return true;
      }
    }
    this.#failed.add(key);
    return false;
  }

  /** The task as it is, and as time alone may have left it. */
  *#withTime(task: Task): Generator<Task> {
    yield task;
    let later = task;
    if (task.state === 'LEASED') {
      later = { ...task, state: 'WAITING', held: undefined, expiries: task.expiries + 1 };
      yield later;
    }
    if (later.state === 'WAITING' && later.expiries >= this.#rules.poisonThreshold) {
      yield { ...later, state: 'DEAD' };
    }
  }
}

/** What a request did to which tasks. */
function* stepsOf(asked: Asked): Generator<[string, Step]> {
  const { op, params, answer, called, returned = Number.POSITIVE_INFINITY } = asked;
  if (answer === undefined || answer['outcome'] === 'UNAVAILABLE') return;
  const step = (text: string, next: Step['next']): Step => ({ called, returned, text, next });
  const text = `${op} ${JSON.stringify(params)} → ${JSON.stringify(answer)}`;
  if (op === 'lease') {
    for (const lease of (answer['leases'] ?? []) as Fields[]) {
      yield [String(lease['task_id']), step(`leased ${JSON.stringify(lease)}`, granted(lease))];
    }
    return;
  }
  if (op === 'submit') {
    const exists = answer['deduplicated'] === true;
    if (answer['task_id'] === undefined) return;
    yield [String(answer['task_id']), step(text, exists ? known(answer) : created)];
    return;
  }
  if (op === 'redrive' && answer['task_id'] !== undefined && answer['deduplicated'] !== true) {
    yield [String(answer['task_id']), step(text, created)];
  }
  const next = NEXT[op];
  if (next !== undefined) yield [String(params['task_id']), step(text, next(params, answer))];
}

type Next = (params: Fields, answer: Fields) => Step['next'];

const created: Step['next'] = (task) =>
  task.state === 'NONE' ? { ...NONE, state: 'WAITING' } : undefined;
const known =
  ({ state }: Fields): Step['next'] =>
  (task) =>
    task.state === state ? task : undefined;

const granted =
  ({ lease_id, attempt }: Fields): Step['next'] =>
  (task) => {
    if (task.state !== 'WAITING' || attempt !== task.attempt + 1) return undefined;
    const held = String(lease_id);
    return { ...task, state: 'LEASED', attempt, held, leases: [...task.leases, held] };
  };

const NEXT: Readonly<Record<string, Next>> = {
  heartbeat: (params, answer) => (task) => {
    const lease = String(params['lease_id']);
    if (answer['outcome'] === 'OK') return task.held === lease ? task : undefined;
    const committed = task.outcomes[lease] === 'COMMITTED';
    const { reason } = answer;
    if (reason === 'task_terminal') return committed && OVER.has(task.state) ? task : undefined;
    if (reason === 'already_reported') return committed && !OVER.has(task.state) ? task : undefined;
    return !committed && lostBy(task, lease) === reason ? task : undefined;
  },
  complete: (params, answer) => (task) => reported(task, params, answer, 'complete'),
  fail: (params, answer) => (task) => reported(task, params, answer, 'fail'),
  kill: (_, answer) => (task) => {
    if (answer['outcome'] !== 'COMMITTED') {
      return task.state === answer['task_state'] && OVER.has(task.state) ? task : undefined;
    }
    if (task.state !== 'WAITING' && task.state !== 'LEASED') return undefined;
    return { ...task, state: 'DEAD', held: undefined };
  },
  redrive: (_, answer) => (task) => {
    const made = answer['task_id'];
    if (made === undefined) return task.state === answer['task_state'] ? task : undefined;
    if (task.state !== 'FAILED' && task.state !== 'DEAD') return undefined;
    if (answer['deduplicated'] === true) return task.redrivenAs === made ? task : undefined;
    return task.redrivenAs === undefined ? { ...task, redrivenAs: String(made) } : undefined;
  },
  task: (_, answer) => (task) => {
    const { state, attempt, lease } = answer;
    if (task.state !== state || task.attempt !== attempt) return undefined;
    const held = (lease as Fields | undefined)?.['lease_id'];
    return task.held === held ? task : undefined;
  },
};

/** Why a lease that was granted for this task has no authority; undefined: it has, or never had. */
function lostBy(task: Task, lease: string): string | undefined {
  if (task.held === lease || !task.leases.includes(lease)) return undefined;
  if (task.state === 'DEAD') return 'task_dead';
  return task.leases.at(-1) === lease ? 'lease_expired' : 'lease_superseded';
}

function reported(task: Task, params: Fields, answer: Fields, op: string): Task | undefined {
  const lease = String(params['lease_id']);
  const { outcome, reason } = answer;
  if (reason === 'duplicate_report') {
    return task.outcomes[lease] === answer['first_outcome'] ? task : undefined;
  }
  if (task.outcomes[lease] !== undefined) return undefined;
  const outcomes = { ...task.outcomes, [lease]: String(outcome) };
  if (outcome === 'CANCELLED') {
    return lostBy(task, lease) === reason ? { ...task, outcomes } : undefined;
  }
  const state = String(answer['task_state']);
  const isPossible = op === 'complete' ? state === 'COMPLETED' : state !== 'COMPLETED';
  if (outcome !== 'COMMITTED' || task.held !== lease || !isPossible) return undefined;
  return { ...task, state, held: undefined, outcomes, expiries: 0 };
}
