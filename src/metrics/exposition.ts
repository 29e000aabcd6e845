// Owns the Prometheus text format: families in the order of their table, each with its help, and
// histograms in their cumulative form.

import { FAMILIES, type Family, type MetricName } from './families.ts';
import type { HistogramData } from './histogram.ts';

export type Labels = Readonly<Record<string, string>>;

export class Exposition {
  readonly #lines = new Map<MetricName, string[]>();

  /** A counter or a gauge; nothing is shown of what is not known. */
  set(name: MetricName, value: number | undefined, labels: Labels = {}): void {
    if (value === undefined) return;
    this.#of(name).push(`${name}${labelText(labels)} ${numberText(value)}`);
  }

  histogram(name: MetricName, data: HistogramData | undefined, labels: Labels = {}): void {
    if (data === undefined) return;
    const lines = this.#of(name);
    let sum = 0;
    data.counts.forEach((count, place) => {
      sum += count;
      const le = data.bounds[place];
      const bound = le === undefined ? '+Inf' : numberText(le);
      lines.push(`${name}_bucket${labelText({ ...labels, le: bound })} ${sum}`);
    });
    lines.push(`${name}_sum${labelText(labels)} ${numberText(data.sum)}`);
    lines.push(`${name}_count${labelText(labels)} ${sum}`);
  }

  text(): string {
    const lines: string[] = [];
    for (const [name, { type, help }] of Object.entries(FAMILIES) as [MetricName, Family][]) {
      const samples = this.#lines.get(name);
      if (samples === undefined) continue;
      lines.push(`# HELP ${name} ${help.replaceAll('\\', '\\\\')}`, `# TYPE ${name} ${type}`);
      for (const sample of samples) lines.push(sample);
    }
    return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
  }

  #of(name: MetricName): string[] {
    let lines = this.#lines.get(name);
    if (lines === undefined) {
      lines = [];
      this.#lines.set(name, lines);
    }
    return lines;
  }
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels);
  if (pairs.length === 0) return '';
  return `{${pairs.map(([name, value]) => `${name}="${escaped(value)}"`).join(',')}}`;
}

const escaped = (value: string): string =>
  value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');

const numberText = (value: number): string =>
  Number.isFinite(value) ? String(value) : value > 0 ? '+Inf' : value < 0 ? '-Inf' : 'NaN';
