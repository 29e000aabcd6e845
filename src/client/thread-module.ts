// Owns where the modules of the library's threads are: beside this module. A bundler copies this
// module elsewhere and leaves the others behind. That must be reported before the worker leases a
// single task.

import { existsSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LeaseholdError } from './errors.ts';

/**
 * @param name the module's name, without its suffix
 * @throws LeaseholdError WRONG_MACHINE when the module is not there; the message says how to mend
 *   it
 */
export function threadModule(name: string): URL {
  // A bundle of CommonJS has no such URL at all.
  const here = import.meta.url as string | undefined;
  const file = here ? new URL(`./${name}${extname(here)}`, here) : undefined;
  if (file !== undefined && (file.protocol !== 'file:' || existsSync(fileURLToPath(file)))) {
    return file;
  }
  throw new LeaseholdError(
    'WRONG_MACHINE',
    `the module ${name}, which runs in a thread, is not beside the library's code.` +
      ' Was it bundled? Mark the package as external (esbuild: --external:leasehold,' +
      ' --external:leasehold-client), and install it where the bundle runs',
  );
}
