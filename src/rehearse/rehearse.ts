// Owns the course of a rehearsal. An undisturbed run comes first. Every scenario that can affect
// this worker follows, a few at a time, each on a coordinator of its own. Then each run is judged.

import { availableParallelism } from 'node:os';
import type { Fault } from './faults.ts';
import { NOTHING_KNOWN } from './known.ts';
import { type Played, type PlayOptions, play, type Result } from './play-scenario.ts';
import type { Scenario } from './scenario.ts';
import { SCENARIOS, UNDISTURBED } from './scenarios.ts';

export interface RehearsalOptions extends PlayOptions {
  /** Names of scenarios; empty: all. */
  readonly names: readonly string[];
  onResult?(result: Result, done: number, total: number): void;
}

/** @throws Error when the worker does not do its task even undisturbed. */
export async function rehearse(options: RehearsalOptions): Promise<readonly Result[]> {
  const first = await play(UNDISTURBED, options, 0, NOTHING_KNOWN);
  if (first.judgement === undefined || first.trouble !== undefined) throw cannot(first);
  if (first.judgement.faults.some(isNotDone)) throw cannot(first);
  const { known } = first;
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
          ? await play(scenario, options, index + 1, known)
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
  stalledMs: 0,
});
