// Owns the reading of the knobs: flag before environment before file before default, and the
// refusal of what is out of range. It writes nothing; the files that it needs are read for it.

import path from 'node:path';
import { errnoText } from '../model/errno-text.ts';
import { DURATION_EXAMPLES, readDuration } from '../model/read-duration.ts';
import { parseJson } from '../protocol/json.ts';
import { type ClusterSettings, clusterSettings } from './cluster-settings.ts';
import { isDuration, type Knob, rangeOf } from './knob.ts';
import { KnobError } from './knob-error.ts';
import {
  flagOf,
  KNOB_NAMES,
  KNOBS,
  type KnobName,
  type KnobValues,
  keyOf,
  variableOf,
} from './knob-table.ts';
import { readToken, TOKEN_VARIABLE, TokenError } from './token.ts';
import { knobVariable } from './variables.ts';

export { KnobError } from './knob-error.ts';

export type Source = 'flag' | 'env' | 'file' | 'default';
export interface Settings {
  readonly values: KnobValues;
  readonly sources: Readonly<Record<KnobName, Source>>;
  /** The bearer token itself: shown nowhere. */
  readonly token: string | undefined;
  readonly tokenSource: Source;
  /** Undefined: the log is on this machine alone. */
  readonly cluster: ClusterSettings | undefined;
}

/** Where settings come from; `readFile` throws as node:fs does. */
export interface SettingSources {
  /** By knob name; a switch that was given is true. */
  readonly flags: Readonly<Partial<Record<KnobName, string | true>>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly configFile?: string | undefined;
  readFile(path: string): string;
}

type Value = string | number | boolean | undefined;
type Found = readonly [value: Value, source: Source];

/** @throws KnobError */
export function readSettings(from: SettingSources): Settings {
  const { values, sources } = readKnobs(from);
  archiveApart(values);
  const [token, tokenSource] = tokenOf(from, values);
  if (token === undefined) onlyLoopback(values);
  const cluster = clusterSettings(values, from.readFile);
  return { values, sources, token, tokenSource, cluster };
}

/** Each knob by itself, and what each may be. @throws KnobError */
export function readKnobs(from: SettingSources): Pick<Settings, 'values' | 'sources'> {
  const file = readConfig(from);
  const values: Partial<Record<KnobName, Value>> = {};
  const sources: Partial<Record<KnobName, Source>> = {};
  for (const name of KNOB_NAMES) {
    const [value, source] = find(name, from, file);
    values[name] = value;
    sources[name] = source;
  }
  heartbeatInterval(values, sources);
  return { values: values as unknown as KnobValues, sources: sources as Settings['sources'] };
}

function find(name: KnobName, from: SettingSources, file: ReadonlyMap<string, unknown>): Found {
  const knob = KNOBS[name];
  const flag = from.flags[name];
  if (flag !== undefined) return [parse(name, knob, flag, flagOf(name)), 'flag'];
  const variable = knobVariable(variableOf(name), knob, from.env);
  if (variable !== undefined) return [parse(name, knob, variable, variableOf(name)), 'env'];
  const key = keyOf(name);
  if (file.has(key)) return [fromFile(name, knob, file.get(key), from.configFile ?? ''), 'file'];
  return [knob.default, 'default'];
}

const DIGITS = /^-?\d+$/;
const DECIMAL = /^-?\d+(\.\d+)?$/;

function parse(name: KnobName, knob: Knob, given: string | true, where: string): Value {
  if (given === true) return true;
  switch (knob.kind) {
    case 'whole':
      return inRange(name, knob, wholeOf(knob, given), where, given);
    case 'number':
      return inRange(name, knob, DECIMAL.test(given) ? Number(given) : given, where);
    case 'switch':
      return inRange(
        name,
        knob,
        given === 'true' ? true : given === 'false' ? false : given,
        where,
      );
    default:
      return inRange(name, knob, given, where);
  }
}

const wholeOf = (knob: Knob, given: string): number | string => {
  if (isDuration(knob)) return readDuration(given) ?? given;
  return DIGITS.test(given) ? Number(given) : given;
};

/** In the file a number is a number; a duration with its unit is a text. */
function fromFile(name: KnobName, knob: Knob, given: unknown, path: string): Value {
  const isText = isDuration(knob) && typeof given === 'string' && !DIGITS.test(given);
  const value = isText ? wholeOf(knob, given) : given;
  return inRange(name, knob, value, `${keyOf(name)} in ${path}`, given);
}

/** @param written as it was given, for the message. */
function inRange(
  name: KnobName,
  knob: Knob,
  value: unknown,
  where: string,
  written: unknown = value,
): Value {
  if (isOf(knob, value)) return value as Value;
  const flag = where === flagOf(name) ? '' : ` (${flagOf(name)})`;
  const examples = isDuration(knob) ? ` (${DURATION_EXAMPLES})` : '';
  throw new KnobError(
    `${where}${flag}: ${JSON.stringify(written)} is not ${rangeOf(knob)}${examples}`,
  );
}

function isOf(knob: Knob, given: unknown): boolean {
  switch (knob.kind) {
    case 'whole':
      return (
        Number.isSafeInteger(given) &&
        (given as number) >= knob.min &&
        (given as number) <= knob.max
      );
    case 'number':
      return (
        Number.isFinite(given) && (given as number) >= knob.min && (given as number) <= knob.max
      );
    case 'choice':
      return typeof given === 'string' && knob.choices.includes(given);
    case 'text':
      return (
        typeof given === 'string' &&
        given !== '' &&
        !given.includes('\0') &&
        Buffer.byteLength(given) <= (knob.maxBytes ?? Number.POSITIVE_INFINITY)
      );
    case 'switch':
      return typeof given === 'boolean';
  }
}

function readConfig({ configFile, readFile }: SettingSources): ReadonlyMap<string, unknown> {
  if (configFile === undefined) return new Map();
  let text: string;
  try {
    text = readFile(configFile);
  } catch (error) {
    throw new KnobError(`--config ${configFile}: ${errnoText(error)}`);
  }
  const parsed = parseJson(Buffer.from(text));
  if (parsed.kind !== 'json') throw new KnobError(`--config ${configFile}: ${parsed.detail}`);
  const content = parsed.value;
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw new KnobError(`--config ${configFile}: a JSON object is expected, with knobs by name`);
  }
  const known = new Set(KNOB_NAMES.map(keyOf));
  const found = new Map(Object.entries(content));
  for (const key of found.keys()) {
    if (!known.has(key)) throw new KnobError(`--config ${configFile}: there is no knob ${key}`);
  }
  return found;
}

function heartbeatInterval(
  values: Partial<Record<KnobName, Value>>,
  sources: Partial<Record<KnobName, Source>>,
): void {
  const lease = values.leaseDurationMs as number;
  if (values.heartbeatIntervalMs === undefined) {
    values.heartbeatIntervalMs = Math.max(1, Math.floor(lease / 3));
  } else if ((values.heartbeatIntervalMs as number) > lease / 2) {
    throw new KnobError(
      `--heartbeat-interval-ms (${sources.heartbeatIntervalMs}): ${values.heartbeatIntervalMs} is` +
        ` more than half of the lease duration, ${lease}: a whole number from 1 to` +
        ` ${Math.floor(lease / 2)} (ms) is expected`,
    );
  }
}

/** The archive is a log of its own: two logs in one directory would be taken for one. */
function archiveApart({ dataDir, archiveDir }: KnobValues): void {
  if (archiveDir === undefined || path.resolve(archiveDir) !== path.resolve(dataDir)) return;
  throw new KnobError(`${flagOf('archiveDir')}: ${archiveDir} is the data directory itself`);
}

function tokenOf(from: SettingSources, { tokenFile }: KnobValues): [string | undefined, Source] {
  const { env, readFile } = from;
  try {
    const variable = env[TOKEN_VARIABLE];
    const token = readToken({ file: tokenFile, variable, readFile });
    if (token === undefined) return [undefined, 'default'];
    return [token, tokenFile === undefined ? 'env' : 'file'];
  } catch (error) {
    throw error instanceof TokenError ? new KnobError(error.message) : error;
  }
}

function onlyLoopback(values: KnobValues): void {
  for (const name of ['httpHost', 'socketHost'] as const) {
    if (isLoopback(values[name])) continue;
    throw new KnobError(
      `${flagOf(name)}: ${values[name]} is not a loopback address, so a token is needed` +
        ' (--token-file PATH or LEASEHOLD_TOKEN)',
    );
  }
}

/** True for the addresses that only this machine can reach. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);

/** One knob as /v1/config and the start line show it. */
export interface ShownKnob {
  readonly value: Value;
  readonly source: Source;
}

/** @returns every knob by its key; the token is `set` or `not set`, never itself. */
export function shownSettings(settings: Settings): Readonly<Record<string, ShownKnob>> {
  const shown: Record<string, ShownKnob> = {};
  for (const name of KNOB_NAMES) {
    shown[keyOf(name)] = { value: settings.values[name], source: settings.sources[name] };
  }
  const value = settings.token === undefined ? 'not set' : 'set';
  shown['token'] = { value, source: settings.tokenSource };
  return shown;
}
