// Owns the course of a rehearsal. An undisturbed run comes first. Every scenario that can affect
// this worker follows, a few at a time, each on a coordinator of its own. Then each run is judged.

import { availableParallelism } from 'node:os';
import type { CleanUp } from './clean-up.ts';
import type { Fault } from './faults.ts';
import { type Judgement, judge } from './judge.ts';
import { whyNoTaskTaken } from './no-task-taken.ts';
import { isHeartbeat } from './requests.ts';
import { Run, type RunOptions } from './run.ts';
import type { Known, Scenario } from './scenario.ts';
import { SCENARIOS, UNDISTURBED } from './scenarios.ts';

export interface RehearsalOptions extends Omit<RunOptions, 'cleanUp'> {
  readonly cleanUp: CleanUp;
  /** Names of scenarios; empty: all. */
  readonly names: readonly string[];
  /** The number of effects of a task, for a worker that counts them somewhere else. */
  effectsOf?(taskId: string): Promise<number>;
  onResult?(result: Result, done: number, total: number): void;
}

/** What one scenario has come to. */
export interface Result {
  readonly scenario: Pick<Scenario, 'name' | 'title' | 'page'>;
  /** Undefined: it cannot bite with this worker, for the reason in `skipped`. */
  readonly judgement: Judgement | undefined;
  readonly skipped?: string;
  /** Why the scenario could not be played to its end. */
  readonly trouble?: string;
  /** Of each task that something is said about: its story as explain tells it. */
  readonly stories: readonly string[];
  /** What the worker printed, each process under its number. */
  readonly output: string;
  readonly tookMs: number;
}

/** A result with what only the undisturbed run is asked for. */
interface Played extends Result {
  readonly known: Known;
  readonly noTaskTaken: string | undefined;
}

const NOTHING: Known = { hasEffects: false, hasHeartbeats: false };

/** @throws Error when the worker does not do its task even undisturbed. */
export async function rehearse(options: RehearsalOptions): Promise<readonly Result[]> {
  const first = await playOne(UNDISTURBED, options, 0, NOTHING);
  if (first.judgement === undefined || first.trouble !== undefined) throw cannot(first);
  if (first.judgement.faults.some(isNotDone)) throw cannot(first);
  const known: Known = first.known;
  const wanted = SCENARIOS.filter(
    ({ name }) => options.names.length === 0 || options.names.includes(name),
  );
  const total = wanted.length + 1;
  const results: Result[] = [first];
  options.onResult?.(first, 1, total);
  const queue = wanted.map((scenario, index) => ({ scenario, index }));
  const lane = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const { scenario, index } = next;
      const skipped = scenario.cannotBite?.(known);
      const result =
        skipped === undefined
          ? await playOne(scenario, options, index + 1, known)
          : notPlayed(scenario, skipped);
      results.push(result);
      options.onResult?.(result, results.length, total);
    }
  };
  // A scenario mostly waits for a lease to end; two a processor keep the machine calm. What a
  // command counts, it counts by task id, which scenarios that are played at once would have in
  // common.
  const lanes = options.effectsOf === undefined ? availableParallelism() * 2 : 1;
  await Promise.all(Array.from({ length: lanes }, lane));
  const order = new Map(wanted.map(({ name }, index) => [name, index]));
  const place = ({ scenario: { name } }: Result): number => order.get(name) ?? -1;
  return results.sort((a, b) => place(a) - place(b));
}

const isNotDone = ({ name }: Fault): boolean => name === 'not-done';

function cannot({ trouble, judgement, output, noTaskTaken }: Played): Error {
  const left = (judgement?.faults ?? []).filter(isNotDone).flatMap(({ evidence }) => evidence);
  const head = 'the worker does not do its tasks even when nothing goes wrong';
  const why = noTaskTaken === undefined ? '' : `\n${noTaskTaken}`;
  return new Error(`${head}: ${trouble ?? left.join('; ')}${why}\n${output}`);
}

const notPlayed = ({ name, title, page }: Scenario, skipped: string): Result => ({
  scenario: { name, title, page },
  judgement: undefined,
  skipped,
  stories: [],
  output: '',
  tookMs: 0,
});

async function playOne(
  { name, title, page, play }: Scenario,
  options: RehearsalOptions,
  index: number,
  known: Known,
): Promise<Played> {
  const { payloads, seed } = options;
  const from = (seed + index) % payloads.length;
  const turned = [...payloads.slice(from), ...payloads.slice(0, from)];
  const counter = new Counter(options.effectsOf);
  const onSubmitted = (id: string): Promise<void> => counter.begin(id);
  const run = await Run.open({ ...options, payloads: turned, onSubmitted });
  try {
    let trouble: string | undefined;
    await play(run, known).catch(({ message }: Error) => {
      trouble = message;
    });
    const left = await run.over();
    const endedAt = run.traffic.now();
    run.closing();
    const records = await run.coordinator.records();
    const told = await Promise.all(run.tasks.map((id) => run.coordinator.story(id)));
    const judgement = judge({
      traffic: run.traffic,
      records,
      stories: told,
      leaseMs: options.leaseMs,
      left,
      endedAt,
      counted: await counter.counted(),
    });
    const isPlain = judgement.verdict === 'kept' && trouble === undefined;
    const stories = isPlain
      ? []
      : await Promise.all(run.tasks.map((id) => run.coordinator.explain(id)));
    return {
      scenario: { name, title, page },
      judgement,
      ...(trouble === undefined ? {} : { trouble }),
      stories,
      output: outputOf(run),
      tookMs: run.traffic.now(),
      noTaskTaken: whyNoTaskTaken(run.traffic, options.queue),
      known: {
        hasEffects: run.traffic.effects.length > 0,
        hasHeartbeats: run.traffic.exchanges.some(isHeartbeat),
      },
    };
  } finally {
    await run.close();
  }
}

/**
 * The effects that a command of the user's counts. Every coordinator begins with the same task ids,
 * so what the command counted for an id before its task was worked on belongs to other scenarios.
 */
class Counter {
  private readonly before = new Map<string, number>();
  private readonly effectsOf: RehearsalOptions['effectsOf'];

  constructor(effectsOf: RehearsalOptions['effectsOf']) {
    this.effectsOf = effectsOf;
  }

  async begin(taskId: string): Promise<void> {
    if (this.effectsOf !== undefined) this.before.set(taskId, await this.effectsOf(taskId));
  }

  async counted(): Promise<ReadonlyMap<string, number>> {
    const counted = new Map<string, number>();
    for (const [id, before] of this.before) {
      counted.set(id, ((await this.effectsOf?.(id)) ?? 0) - before);
    }
    return counted;
  }
}

const outputOf = ({ workers }: Run): string =>
  workers
    .filter(({ output }) => output.trim() !== '')
    .map(({ number, output }) => `worker ${number}:\n${output.trimEnd()}`)
    .join('\n');
