// Owns controls that play at the same time, each in a place of its own: they mostly wait, for
// leases, for starts and for ends. Each is still a test of its own, which waits for its own part.

/** @returns waits for the run of this name; the first to be asked for starts all of them. */
export function together<T>(
  names: readonly string[],
  run: (name: string) => Promise<T>,
): (name: string) => Promise<T> {
  let runs: Map<string, Promise<T>> | undefined;
  return async (name) => {
    runs ??= new Map(names.map((one) => [one, started(run, one)]));
    const found = runs.get(name);
    if (found === undefined) throw new Error(`no run is named ${name}`);
    return found;
  };
}

/** What fails before its test asks is not yet anybody's failure. */
function started<T>(run: (name: string) => Promise<T>, name: string): Promise<T> {
  const running = run(name);
  running.catch(() => {});
  return running;
}
