// Owns the way from a run that fails to a small one that fails alike: fewer records, fewer kinds of
// trouble, fewer workers and queues, and at last another seed that gets there sooner.

import type { Run } from './run.ts';
import { run } from './run.ts';
import type { Settings } from './settings.ts';

const SEEDS_TRIED = 40;
/** Where settings keep the rates of what goes wrong; those of a cluster have more of them. */
const TROUBLES = ['troubles', 'cluster', 'etcd'] as const;

type Rates = Readonly<Record<string, number>>;
const troublesIn = (settings: Settings, kind: (typeof TROUBLES)[number]): Rates =>
  (settings as unknown as Readonly<Record<string, Rates | undefined>>)[kind] ?? {};

export interface Shrunk {
  readonly settings: Settings;
  readonly run: Run;
  /** Runs that were made. */
  readonly tried: number;
}

/** @param limitMs for all runs together; the smallest so far is given back then. */
export async function shrink(
  settings: Settings,
  failed: Run,
  limitMs: number,
  play = run,
): Promise<Shrunk> {
  const shrinker = new Shrinker(settings, failed, performance.now() + limitMs, play);
  await shrinker.work();
  return { settings: shrinker.settings, run: shrinker.failed, tried: shrinker.tried };
}

class Shrinker {
  settings: Settings;
  failed: Run;
  tried = 0;
  private readonly until: number;
  private readonly play: typeof run;

  constructor(settings: Settings, failed: Run, until: number, play: typeof run) {
    this.play = play;
    this.settings = settings;
    this.failed = failed;
    this.until = until;
  }

  async work(): Promise<void> {
    for (let before = -1; before !== this.size(); ) {
      before = this.size();
      await this.fewerTroubles();
      for (const workers of [1, 3]) await this.attempt({ workers });
      for (const backlog of [1, 2, 5]) await this.attempt({ backlog });
      await this.attempt({ queues: 1 });
      await this.attempt({ batch: 1 });
      await this.attempt({ delays: [0] });
    }
    const { seed } = this.settings;
    for (let other = seed + 1; other <= seed + SEEDS_TRIED; other += 1) {
      await this.attempt({ seed: other });
    }
  }

  /** Records first, then what is in the settings. */
  private size(): number {
    const { workers, queues, backlog, batch, delays } = this.settings;
    const rates = TROUBLES.flatMap((kind) => Object.values(troublesIn(this.settings, kind)));
    const kinds = rates.filter((rate) => rate > 0).length;
    return this.failed.records * 1_000 + kinds + workers + queues + backlog + batch + delays.length;
  }

  private async fewerTroubles(): Promise<void> {
    for (const kind of TROUBLES) {
      const before = troublesIn(this.settings, kind);
      for (const name of Object.keys(before)) {
        const now = troublesIn(this.settings, kind);
        if (now[name] === 0) continue;
        await this.attempt({ [kind]: { ...now, [name]: 0 } });
      }
    }
  }

  /** Keeps a change if the same checker sees something, no later than before. */
  private async attempt(change: Partial<Settings>): Promise<void> {
    if (performance.now() > this.until) return;
    const settings = { ...this.settings, ...change, records: this.failed.records + 1 };
    if (JSON.stringify(settings) === JSON.stringify(this.settings)) return;
    this.tried += 1;
    const result = await this.play(settings);
    if (result.failure?.checker !== this.failed.failure?.checker) return;
    if (result.records > this.failed.records) return;
    if (change.seed !== undefined && result.records === this.failed.records) return;
    this.settings = settings;
    this.failed = result;
  }
}
