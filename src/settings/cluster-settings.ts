// Owns what the knobs of a cluster must be together, and the files that they name. Serve and the
// commands that operate a cluster read them alike.

import { errnoText } from '../model/errno-text.ts';
import type { ClusterKnobValues } from './cluster-knobs.ts';
import { KnobError } from './knob-error.ts';

/** How etcd is reached, and which cluster is meant. */
export interface EtcdSettings {
  readonly urls: readonly string[];
  readonly cluster: string;
  readonly callMs: number;
  /** In PEM. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly user?: { readonly name: string; readonly password: string };
}

/** What a node of a cluster needs besides. */
export interface ClusterSettings extends EtcdSettings {
  readonly node: string;
  /** Where clients reach this node. */
  readonly url: string;
  readonly silenceMs: number;
  readonly beatMs: number;
  readonly tailMaxBytes: number;
}

type ReadFile = (path: string) => string;

/** Below a silence so short, pauses of a busy machine would look like deaths. */
const SILENCE_MIN_MS = 500;
const BEATS_MIN = 3;
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

/** @returns undefined: no etcd is named. @throws KnobError */
export function clusterSettings(
  values: ClusterKnobValues,
  readFile: ReadFile,
): ClusterSettings | undefined {
  if (values.etcd === undefined) return undefined;
  const { leaderSilenceMs: silenceMs, leaderBeatMs: beatMs, tailMaxBytes } = values;
  if (silenceMs < SILENCE_MIN_MS || silenceMs < BEATS_MIN * beatMs) {
    const least = Math.max(SILENCE_MIN_MS, BEATS_MIN * beatMs);
    throw new KnobError(
      `--leader-silence-ms: ${silenceMs} is less than ${least} ms, which is the least for a beat ` +
        `of ${beatMs} ms (--leader-beat-ms)`,
    );
  }
  return {
    ...etcdSettings(values, readFile),
    node: nameOf('--node-name', values.nodeName),
    url: urlOf('--advertise-url', values.advertiseUrl, /^https?:$/),
    silenceMs,
    beatMs,
    tailMaxBytes,
  };
}

/** @throws KnobError also when no etcd is named. */
export function etcdSettings(values: ClusterKnobValues, readFile: ReadFile): EtcdSettings {
  const { etcd, etcdCaFile, etcdCertFile, etcdKeyFile, etcdUserFile } = values;
  const urls = needed('--etcd', etcd, TO_FIND)
    .split(',')
    .map((url) => urlOf('--etcd', url.trim(), /^https?:$/));
  if (new Set(urls.map((url) => new URL(url).protocol)).size > 1) {
    throw new KnobError('--etcd: either all URLs begin with https: or all with http:');
  }
  const cluster = nameOf('--cluster-name', values.clusterName, TO_FIND);
  if ((etcdCertFile === undefined) !== (etcdKeyFile === undefined)) {
    throw new KnobError('--etcd-cert-file and --etcd-key-file are given together or not at all');
  }
  const isPlain = urls.some((url) => url.startsWith('http:'));
  if (isPlain && (etcdCaFile !== undefined || etcdCertFile !== undefined)) {
    throw new KnobError('--etcd: certificates are used for https: only, and these URLs are http:');
  }
  const read = (flag: string, path: string | undefined): string | undefined =>
    path === undefined ? undefined : contentOf(flag, path, readFile);
  const [ca, cert, key, user] = [
    read('--etcd-ca-file', etcdCaFile),
    read('--etcd-cert-file', etcdCertFile),
    read('--etcd-key-file', etcdKeyFile),
    read('--etcd-user-file', etcdUserFile),
  ];
  return {
    urls,
    cluster,
    callMs: values.etcdCallMs,
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(user === undefined ? {} : { user: userIn(user) }),
  };
}

/** Commands that operate a cluster need to find it, and are no node. */
const TO_FIND = 'to find the cluster';
const FOR_NODE = 'for a node of a cluster';

function needed(flag: string, value: string | undefined, why = FOR_NODE): string {
  if (value !== undefined) return value;
  throw new KnobError(`${flag} is needed ${why}, and is not given`);
}

function nameOf(flag: string, value: string | undefined, why = FOR_NODE): string {
  const name = needed(flag, value, why);
  if (NAME.test(name)) return name;
  const rule = '1 to 63 letters, digits, dots, hyphens and underscores, the first no punctuation';
  throw new KnobError(`${flag}: ${JSON.stringify(name)} is not a name of ${rule}`);
}

/** An address and nothing more: what else a URL may hold would be left out of account. */
function urlOf(flag: string, value: string | undefined, protocols: RegExp): string {
  const text = needed(flag, value);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const rest = url && url.username + url.password + url.search + url.hash;
  const isAddress = url !== undefined && protocols.test(url.protocol) && rest === '';
  if (isAddress && url.hostname !== '' && url.pathname === '/') return text.replace(/\/$/, '');
  throw new KnobError(`${flag}: ${JSON.stringify(text)} is not http://host:port or https://…`);
}

function contentOf(flag: string, path: string, readFile: ReadFile): string {
  try {
    return readFile(path);
  } catch (error) {
    throw new KnobError(`${flag} ${path}: ${errnoText(error)}`);
  }
}

function userIn(text: string): { name: string; password: string } {
  const [, name = '', password = ''] = /^([^:\s]+):(.+)$/.exec(text.trim()) ?? [];
  if (name === '') throw new KnobError('--etcd-user-file: the file must hold USER:PASSWORD');
  return { name, password };
}
