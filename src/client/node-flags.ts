// Owns which flags of node a handler's thread is started with. A thread inherits the flags of its
// process, but a flag that holds the text of the main program keeps a thread from starting.

const OF_THE_TEXT = '--input-type';
/** What loading a module may need. Others may not be named: those of V8 hold for every thread. */
const OF_LOADING: ReadonlySet<string> = new Set([
  ...['--import', '--require', '-r', '--loader', '--experimental-loader', '--conditions', '-C'],
  ...['--experimental-strip-types', '--experimental-transform-types', '--enable-source-maps'],
  ...['--preserve-symlinks'],
]);

/** @returns the flags to be named, or undefined: a thread can have all that its process has. */
export function threadFlags(execArgv: readonly string[]): string[] | undefined {
  const nameOf = (flag: string | undefined): string => flag?.split('=', 1)[0] ?? '';
  if (!execArgv.some((flag) => nameOf(flag) === OF_THE_TEXT)) return undefined;
  return execArgv.flatMap((flag, at) => {
    if (!OF_LOADING.has(nameOf(flag))) return [];
    const next = execArgv[at + 1];
    const hasOwnValue = !flag.includes('=') && next !== undefined && !next.startsWith('-');
    return hasOwnValue ? [flag, next] : [flag];
  });
}
