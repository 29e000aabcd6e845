// Owns which test files each tier plays, and in which runs of mocha. A tier is a pure function of
// the files that there are and of the day, so a test can hold the tiers to one another.

/** Files of one run: each run starts mocha once more. */
const TOGETHER = { quick: 60, onDisk: 7, withProcesses: 5 };
/** Days from one round of a file that is played by days to its next one. */
export const DAYS = 5;

/** Files and folders below test/ that take longest: each is a run, and they begin first. */
export const LONG = [
  'rehearse/rehearse',
  'cli/work',
  'e2e/cluster-',
  'client/worker',
  'package/client',
  'log/etcd/replicated-log',
  'simulator/replicated/',
  'reliability/mixed',
  'reliability/years',
];
/** Those whose tests start processes. */
export const WITH_PROCESSES = [
  ...LONG,
  'reliability/',
  'simulator/',
  'log/lmdb-crash',
  'log/etcd/',
  'support/etcd-cluster',
  'e2e/',
  'examples/',
  'recipes/',
  'package/',
  'rehearse/run',
  'client/payload-schema',
  'client/signals',
  'client/transports',
  'cli/completion',
  'cli/offline',
  'cli/permission',
  'actors/system',
  'house/build',
  'support/etcd/real-etcd',
];
/** Those among them whose tests do not. */
export const WITHOUT = [
  'reliability/soak-judge',
  'simulator/checkers/',
  'simulator/model/',
  'log/etcd/etcd-troubles',
  'log/etcd/trim',
  'log/etcd/values',
];
/** Those that wait for the device: they flush logs to it many times. */
export const ON_DISK = [
  'log/archive',
  'log/copy-',
  'log/left-segments',
  'log/lmdb-',
  'log/lock',
  'log/merge',
];
/** Of these `test` plays a fifth, others each day: each starts many processes. */
export const BY_DAYS = [
  'cli/completion',
  'cli/offline',
  'cli/permission',
  'cli/work',
  'client/payload-schema',
  'client/signals',
  'client/transports',
  'client/worker-',
  'e2e/',
  'examples/',
  'house/build',
  'package/client',
  'package/contents',
  'package/testing-process',
  'recipes/',
  'rehearse/rehearse',
  'reliability/',
  'simulator/replicated/',
];
/** Those among them that `test` plays each day: a server starts, answers, is killed and stops. */
export const DAILY = ['e2e/smoke'];
/** Those that take whole installations are played with the proofs alone. */
export const WITH_INSTALLATIONS = ['package/install', 'package/runners', 'package/schemas'];
/** What these show, they show by trying for long: at full size each is a run. */
const TRYING = ['reliability/', 'simulator/'];
/** At full size these take longest: they begin first, in this order. */
export const LONGEST = [
  'rehearse/rehearse-bad',
  'reliability/crash-images',
  'rehearse/rehearse',
  'reliability/nodes',
  'e2e/cluster-',
  'reliability/failing-device',
  'reliability/mixed',
  'simulator/',
  'reliability/clock',
  'log/etcd/replicated-log',
  'reliability/every-call',
];
/** Those that `proofs` plays at their full size, and whole. */
export const PROOFS = [
  ...BY_DAYS,
  ...WITH_INSTALLATIONS,
  'simulator/',
  'log/lmdb-crash',
  'log/etcd/etcd-faults',
  'log/etcd/replicated-log',
];

const isIn = (parts) => (name) => parts.some((part) => name.startsWith(part));
const isLong = isIn(LONG);
const isByDays = (name) => isIn(BY_DAYS)(name) && !isIn(DAILY)(name);
const isProof = (name) => isIn(PROOFS)(name) && !isIn(DAILY)(name);

const alone = (names) => names.map((name) => [name]);
function inParts(names, size) {
  const count = Math.ceil(names.length / size);
  return Array.from({ length: count }, (_, at) => names.filter((_, i) => i % count === at));
}
/** Those that take longest alone, and the others in runs of some. */
const inRuns = (names, isAlone = isLong) => [
  ...alone(names.filter(isAlone)),
  ...inParts(
    names.filter((name) => !isAlone(name)),
    TOGETHER.withProcesses,
  ),
];
const plain = (runs) => runs.map((files) => ({ files, env: {} }));

/**
 * @param tier quick, test or proofs
 * @param all test files, sorted, by their names below test/ without an ending
 * @param day which of the files that are played by days are played
 * @returns the runs of mocha, those that take or wait longest first, each with its environment
 */
export function runsOf(tier, all, day) {
  const slow = all.filter((name) => isIn(WITH_PROCESSES)(name) && !isIn(WITHOUT)(name));
  const others = all.filter((name) => !slow.includes(name));
  const quick = inParts(
    others.filter((name) => !isIn(ON_DISK)(name)),
    TOGETHER.quick,
  );
  if (tier === 'quick') return plain(quick);
  if (tier === 'proofs') return plain(proofRuns(slow.filter(isProof)));
  const short = slow.filter((name) => !isIn(WITH_INSTALLATIONS)(name));
  const byDays = longFirst(short.filter(isByDays));
  const today = byDays.filter((_, i) => (i + day) % DAYS === 0);
  // A file that is played each fifth day would always have the same of five parts on its days.
  const env = { TURN: String(Math.floor(day / DAYS)) };
  const runs = [
    ...inRuns(today).map((files) => ({ files, env })),
    ...plain(inRuns(short.filter((name) => !isByDays(name)))),
  ];
  const isLongRun = ({ files }) => isLong(files[0]);
  return [
    ...plain(inParts(others.filter(isIn(ON_DISK)), TOGETHER.onDisk)),
    ...runs.filter(isLongRun),
    ...runs.filter((run) => !isLongRun(run)),
    ...plain(quick),
  ];
}

function proofRuns(names) {
  const place = ([name]) => {
    const found = LONGEST.findIndex((part) => name.startsWith(part));
    return found < 0 ? LONGEST.length : found;
  };
  return inRuns(names, isIn([...LONG, ...TRYING])).toSorted((a, b) => place(a) - place(b));
}

const longFirst = (names) => [...names.filter(isLong), ...names.filter((name) => !isLong(name))];
