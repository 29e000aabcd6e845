// Owns which environment variables that begin with LEASEHOLD_ have a meaning. Everybody ignores a
// misspelt variable and its author does not notice, so it is reported here.

import { nearestName } from '../model/nearest.ts';
import type { Knob } from './knob.ts';
import { KNOB_NAMES, variableOf } from './knob-table.ts';
import { TOKEN_VARIABLE } from './token.ts';

const PREFIX = 'LEASEHOLD_';

/** Those that are no knob: for clients, for `serve`, and what `work` gives to its commands. */
const OTHERS = ['URL', 'CONFIG', 'TASK_ID', 'LEASE_ID', 'ATTEMPT', 'FENCING_TOKEN', 'QUEUE'];

const KNOWN: ReadonlySet<string> = new Set([
  ...KNOB_NAMES.map(variableOf),
  TOKEN_VARIABLE,
  ...OTHERS.map((name) => PREFIX + name),
]);

/**
 * Kubernetes gives each container variables for every Service of its namespace. Those of a Service
 * called leasehold or leasehold-http begin with LEASEHOLD_ too. Their shape tells them apart.
 */
const SERVICE = /^LEASEHOLD_(\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?)$/;
const SERVICE_PORT = /^LEASEHOLD_(\w+_)?PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/;
const SERVICE_URL = /^(tcp|udp|sctp):\/\/\S+:\d+$/;

const isOfKubernetes = (name: string, value: string): boolean =>
  SERVICE.test(name) ||
  SERVICE_PORT.test(name) ||
  (/^LEASEHOLD_(\w+_)?PORT$/.test(name) && SERVICE_URL.test(value));

/**
 * @returns the variable's value where it is meant for this knob. For a Service called
 * leasehold-http Kubernetes sets LEASEHOLD_HTTP_PORT too: that value is a URL, and is not meant
 * for the knob.
 */
export function knobVariable(
  name: string,
  knob: Knob,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const value = env[name];
  return value !== undefined && knob.kind === 'whole' && isOfKubernetes(name, value)
    ? undefined
    : value;
}

/** @returns a sentence for each variable that means nothing, in the order of their names. */
export function unknownVariables(
  env: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const names = Object.keys(env).filter(
    (name) =>
      name.startsWith(PREFIX) && !KNOWN.has(name) && !isOfKubernetes(name, String(env[name])),
  );
  return names.toSorted().map((name) => {
    const meant = nearestName(name, KNOWN);
    const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
    return `the environment variable ${name} has no meaning and is ignored${hint}`;
  });
}
