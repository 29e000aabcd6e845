// Owns the play of one scenario and its judgement. A verdict that may be the machine's and not the
// worker's is not believed: the scenario is played again, with longer leases.

import { inFlightMs } from './allowances.ts';
import { FAULTS } from './faults.ts';
import { type Judgement, judge } from './judge.ts';
import { type Known, knownFrom } from './known.ts';
import { whyNoTaskTaken } from './no-task-taken.ts';
import { Run, type RunOptions } from './run.ts';
import type { Scenario } from './scenario.ts';
import { isMachineBusy } from './slow-machine.ts';

export interface PlayOptions extends RunOptions {
  /** The number of effects of a task, for a worker that counts them somewhere else. */
  effectsOf?(taskId: string): Promise<number>;
  /** Whether so many processes want to run that a verdict may be the machine's. */
  readonly isBusy?: () => boolean;
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
  /** The longest time for which the machine kept the rehearsal itself waiting. */
  readonly stalledMs: number;
}

/** A result with what only the undisturbed run is asked for. */
export interface Played extends Result {
  readonly known: Known;
  readonly noTaskTaken: string | undefined;
}

/** How much longer leases are when a scenario is played once more. */
const LONGER = [2.5, 6];

/** Plays a scenario, and again while a slow machine may be to blame for its verdict. */
export async function play(
  scenario: Scenario,
  options: PlayOptions,
  index: number,
  known: Known,
): Promise<Played> {
  let played = await playOnce(scenario, options, index, known);
  let { leaseMs } = options;
  for (const times of LONGER) {
    // A busy machine is a reason to look once more, and one that stood still to look twice.
    const isBusy = times === LONGER[0] && (options.isBusy ?? isMachineBusy)();
    if (!isDoubtful(played, leaseMs, isBusy)) break;
    leaseMs = Math.round(options.leaseMs * times);
    played = await playOnce(scenario, { ...options, leaseMs }, index, known);
  }
  return played;
}

/** Whether the machine was too slow for the leases, and the worker might do better on another. */
export function isDoubtful(
  {
    stalledMs,
    judgement,
    trouble,
    noTaskTaken,
  }: Pick<Played, 'stalledMs' | 'judgement' | 'trouble' | 'noTaskTaken'>,
  leaseMs: number,
  isBusy: boolean,
): boolean {
  const isSlow = isBusy || stalledMs > inFlightMs(leaseMs);
  if (!isSlow || noTaskTaken !== undefined) return false;
  if (trouble !== undefined || judgement === undefined) return true;
  return judgement.doubled.length > 0 || judgement.faults.some(({ name }) => FAULTS[name].timed);
}

async function playOnce(
  { name, title, page, play }: Scenario,
  options: PlayOptions,
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
    // A scenario that was played to its end has waited for its tasks already.
    const left = await run.over(trouble === undefined ? options.leaseMs : undefined);
    const endedAt = run.traffic.now();
    run.closing();
    const records = await run.coordinator.records();
    const told = await Promise.all(run.tasks.map((id) => run.coordinator.story(id)));
    const counted = await counter.counted();
    const judgement = judge({
      traffic: run.traffic,
      records,
      stories: told,
      leaseMs: options.leaseMs,
      left,
      endedAt,
      counted,
      owed: new Set(run.tasks.filter((id) => known.withEffect.has(run.payloads.get(id) ?? ''))),
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
      stalledMs: run.stalls.longestMs,
      noTaskTaken: whyNoTaskTaken(run.traffic, options.queue),
      known: knownFrom(run, counted),
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
  private readonly effectsOf: PlayOptions['effectsOf'];

  constructor(effectsOf: PlayOptions['effectsOf']) {
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
