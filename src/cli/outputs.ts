// Owns what happens to a command whose standard output or error can take no more text, because the
// reader went away or the device is full. This file writes nothing else, and does not change the
// exit status of a command that ended by itself.

import { EXIT, type Io, say } from './command.ts';

/** They have something to do that matters more than what they say of it. */
const GO_ON: ReadonlySet<string | undefined> = new Set(['serve', 'work']);

/** @param command as given on the command line; what is not taken of it is lost. */
export function watchOutputs(command: string | undefined, { stdout, stderr }: Io): void {
  stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    if (GO_ON.has(command)) return;
    // A reader that has seen enough (`leasehold log | head`) is no error.
    if (code === 'EPIPE') process.exit(EXIT.done);
    say(stderr, `leasehold: standard output: ${message}`);
    process.exit(EXIT.failed);
  });
  // There is nobody left to tell.
  stderr.on('error', () => undefined);
}
