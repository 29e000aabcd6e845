// Owns what happens to a command whose standard output or error can take no more text, because the
// reader went away or the device is full. This file writes nothing else, and does not change the
// exit status of a command that ended by itself.

import { EXIT, type Io, say } from './command.ts';

/** They have something to do that matters more than what they say of it. */
const GO_ON: ReadonlySet<string | undefined> = new Set(['serve', 'work']);

/** @param argv the command line; what is not taken of what the command says is lost. */
export function watchOutputs(argv: readonly string[], { stdout, stderr }: Io): void {
  const isHelp = argv.some((word) => word === '--help' || word === '-h');
  stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    if (GO_ON.has(argv[0]) && !isHelp) return;
    // A reader that has seen enough (`leasehold log | head`) is no error.
    if (code === 'EPIPE') process.exit(EXIT.done);
    say(stderr, `leasehold: standard output: ${message}`);
    process.exit(EXIT.failed);
  });
  // There is nobody left to tell.
  stderr.on('error', () => undefined);
}
