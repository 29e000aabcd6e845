// Owns the reading of Prometheus text in tests: samples by name and labels, and a check of the form
// that a scraper insists on.

import { expect } from 'chai';

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const LINE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"(?:,|$)/g;

/** Fails unless every sample stands under its family's HELP and TYPE, once. */
export function samplesOf(text: string): Sample[] {
  const samples: Sample[] = [];
  const seen = new Set<string>();
  let family = '';
  let type = '';
  for (const line of text.split('\n').filter((one) => one !== '')) {
    if (line.startsWith('# HELP ')) {
      family = line.split(' ')[2] ?? '';
      expect(line.length, `${family} has a help text`).above(`# HELP ${family} `.length);
    } else if (line.startsWith('# TYPE ')) {
      expect(line.split(' ')[2]).equal(family);
      type = line.split(' ')[3] ?? '';
    } else {
      const [, name = '', labels = '', value = ''] = LINE.exec(line) ?? [];
      expect(name, line).not.equal('');
      const of = type === 'histogram' ? name.replace(/_(bucket|sum|count)$/, '') : name;
      expect(of, `${line} stands under its family`).equal(family);
      expect(seen.has(`${name}{${labels}}`), `${line} twice`).equal(false);
      seen.add(`${name}{${labels}}`);
      const pairs = [...labels.matchAll(LABEL)].map(([, key, text]) => [key, text]);
      samples.push({ name, labels: Object.fromEntries(pairs), value: Number(value) });
    }
  }
  return samples;
}

/** Sum of all samples of that name whose labels include the given ones. */
export function valueOf(
  samples: readonly Sample[],
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number {
  return samples
    .filter((one) => one.name === name)
    .filter((one) => Object.entries(labels).every(([key, value]) => one.labels[key] === value))
    .reduce((sum, { value }) => sum + value, 0);
}
