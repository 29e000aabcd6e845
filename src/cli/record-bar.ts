// Owns the bar that shows how far a log has been read: on the standard error of a terminal only.

import type { Io } from './command.ts';

export interface Bar {
  update(records: number): void;
  stop(): void;
}

const NONE: Bar = { update: () => {}, stop: () => {} };

export async function openBar({ stderr }: Io, total: number): Promise<Bar> {
  if (!stderr.isTTY || total === 0) return NONE;
  const { SingleBar, Presets } = (await import('cli-progress')).default;
  const format = '{bar} {percentage} %  {value} of {total} records  {eta_formatted} left';
  const bar = new SingleBar(
    { stream: stderr, format, hideCursor: true, clearOnComplete: true },
    Presets.shades_classic,
  );
  bar.start(total, 0);
  return { update: (records) => bar.update(records), stop: () => bar.stop() };
}
