// Owns the progress bar: on the standard error, and only when that is a terminal.

import type { Io } from './command.ts';

export interface Progress {
  advance(tasks: number, bytes: number): void;
  stop(): void;
}

const NONE: Progress = { advance: () => {}, stop: () => {} };

/** @param total bytes to come; undefined: not known, then tasks are only counted. */
export async function openProgress({ stderr }: Io, total: number | undefined): Promise<Progress> {
  if (!stderr.isTTY) return NONE;
  const { SingleBar, Presets } = (await import('cli-progress')).default;
  const measured = total !== undefined && total > 0;
  const format = measured
    ? '{bar} {percentage} %  {tasks} tasks  {eta_formatted} left'
    : '{tasks} tasks';
  const bar = new SingleBar(
    { stream: stderr, format, hideCursor: true, clearOnComplete: true },
    Presets.shades_classic,
  );
  let tasks = 0;
  bar.start(measured ? total : 1, 0, { tasks });
  return {
    advance(more, bytes) {
      tasks += more;
      if (measured) bar.increment(bytes, { tasks });
      else bar.update({ tasks });
    },
    stop: () => bar.stop(),
  };
}
