// Owns the progress bar: on the standard error, and only when that is a terminal.

import type { Io } from './command.ts';

export interface Bar {
  /** @param done of the total; @param count what is shown of it, where that is something else. */
  update(done: number, count?: number): void;
  stop(): void;
}

export interface Progress {
  /** Undefined: not known, and things are only counted. */
  readonly total: number | undefined;
  /** What is counted: tasks, records. */
  readonly things: string;
}

const NONE: Bar = { update: () => {}, stop: () => {} };

export async function openBar({ stderr }: Io, { total, things }: Progress): Promise<Bar> {
  if (!stderr.isTTY || total === 0) return NONE;
  const { SingleBar, Presets } = (await import('cli-progress')).default;
  const measured = `{bar} {percentage} %  {count} ${things}  {eta_formatted} left`;
  const format = total === undefined ? `{count} ${things}` : measured;
  const bar = new SingleBar(
    { stream: stderr, format, hideCursor: true, clearOnComplete: true },
    Presets.shades_classic,
  );
  bar.start(total ?? 1, 0, { count: 0 });
  return {
    update: (done, count = done) => {
      if (total === undefined) bar.update({ count });
      else bar.update(done, { count });
    },
    stop: () => bar.stop(),
  };
}
