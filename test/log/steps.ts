// Owns the copies of directories as they are between any two steps of something that changes
// files: what a process that is killed there leaves. A power cut leaves less: crash-images.test.ts.

import fs from 'node:fs';
import path from 'node:path';

const CHANGING = ['mkdirSync', 'mkdtempSync', 'writeFileSync', 'renameSync', 'rmSync'] as const;

export interface Step {
  /** What had been done last, or was about to be done. */
  readonly name: string;
  readonly copy: string;
}

/**
 * Runs `act` and copies `source` before and after each call that changes names, and before each
 * flush.
 * @param copies a directory that does not exist yet
 */
export async function everyStep(
  source: string,
  copies: string,
  act: () => Promise<unknown>,
): Promise<Step[]> {
  const steps: Step[] = [];
  // Node loads its copying at the first use, and would take what is patched then for its own.
  fs.cpSync(source, path.join(copies, 'first'), { recursive: true });
  let quiet = false;
  const take = (name: string): void => {
    if (quiet) return;
    quiet = true;
    const copy = path.join(copies, String(steps.length));
    fs.cpSync(source, copy, { recursive: true });
    steps.push({ name, copy });
    quiet = false;
  };
  const undo = [patchOpen(take), ...CHANGING.map((name) => patch(name, take))];
  try {
    await act();
  } finally {
    for (const back of undo) back();
  }
  return steps;
}

type Take = (name: string) => void;

function patch(name: (typeof CHANGING)[number], take: Take): () => void {
  const real = fs[name] as (...given: unknown[]) => unknown;
  const set = (to: unknown): void => {
    (fs as unknown as Record<string, unknown>)[name] = to;
  };
  set((...given: unknown[]) => {
    const what = `${name} ${path.basename(String(given[0]))}`;
    take(`before ${what}`);
    const result = real(...given);
    take(`after ${what}`);
    return result;
  });
  return () => set(real);
}

/** Files are opened by promise only to be flushed. */
function patchOpen(take: Take): () => void {
  const real = fs.promises.open;
  fs.promises.open = async (...given) => {
    const file = await real(...given);
    take(`before the flush of ${path.basename(String(given[0]))}`);
    return file;
  };
  return () => {
    fs.promises.open = real;
  };
}
