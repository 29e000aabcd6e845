// Owns how often a proof is repeated and from which seed: a few rounds in the suite, many as a
// soak. Round n of a run that began with seed s is round 0 of one with seed s + n, so that a soak
// is gone on with, and a failure repeated, by naming the seed that was printed.
//
//   SEED=7 ROUNDS=1 npx mocha dist/test/reliability/X.test.js     one round, the one that failed
//   SOAK=1 MINUTES=10 npx mocha dist/test/reliability/X.test.js   as many as fit, ten by default

/** As every test has at least: a busy machine takes ten times what a round takes else. */
const HANGS_MS = 180_000;
const isSoak = process.env['SOAK'] !== undefined;

export interface Rounds {
  readonly seed: number;
  readonly timeoutMs: number;
  /** Plays round after round; what it throws names the seed. */
  run(round: (seed: number) => Promise<void>): Promise<number>;
}

/** @param inSuite rounds that the suite plays. @param roundMs what one takes at most. */
export function roundsOf(name: string, inSuite: number, roundMs: number): Rounds {
  const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
  const rounds = Number(process.env['ROUNDS'] ?? (isSoak ? Number.POSITIVE_INFINITY : inSuite));
  const soakMs = isSoak ? Number(process.env['MINUTES'] ?? 10) * 60_000 : Number.POSITIVE_INFINITY;
  const timeoutMs = HANGS_MS + Math.min(rounds * roundMs, soakMs + 2 * roundMs);
  if (isSoak)
    console.log(`${name}: SEED=${seed}, ${rounds} rounds, at most ${soakMs / 60_000} min`);
  return {
    seed,
    timeoutMs,
    async run(round) {
      const end = performance.now() + soakMs;
      let done = 0;
      for (; done < rounds && performance.now() < end; done += 1) {
        await named(seed + done, round);
        if (isSoak && (done + 1) % 100 === 0) {
          console.log(`${name}: ${done + 1} rounds done, go on with SEED=${seed + done + 1}`);
        }
      }
      if (isSoak) console.log(`${name}: ${done} rounds done, go on with SEED=${seed + done}`);
      return done;
    },
  };
}

async function named(seed: number, round: (seed: number) => Promise<void>): Promise<void> {
  try {
    await round(seed);
  } catch (error) {
    (error as Error).message = `SEED=${seed} ROUNDS=1: ${(error as Error).message}`;
    throw error;
  }
}
