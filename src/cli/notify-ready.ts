// Owns how systemd is told that the coordinator is ready (Type=notify). The message is a datagram
// on a Unix socket. Node cannot send one; systemd brings a program that can.

import { execFile } from 'node:child_process';
import { type Io, say } from './command.ts';

/** The program is quick; one that hangs is not waited for. */
const WITHIN_MS = 10_000;

/** Does nothing unless systemd waits to be told. Trouble is said and changes nothing. */
export function notifyReady({ env, stderr }: Io): void {
  if (env['NOTIFY_SOCKET'] === undefined) return;
  execFile('systemd-notify', ['--ready'], { timeout: WITHIN_MS }, (error) => {
    if (error === null) return;
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'it is not installed' : error.message.trim();
    const instead = 'systemd is not told that the coordinator is ready; use Type=exec';
    say(stderr, `leasehold: systemd-notify: ${why}: ${instead}`);
  });
}
