// Owns what is said when an ingress cannot listen: the address, the reason in words, and the knob
// that chooses another address.

import { errnoText } from '../../src/model/errno-text.ts';

/** What node:net adds to an error of listen; the port is -1 for the path of a Unix socket. */
interface ListenError extends NodeJS.ErrnoException {
  readonly address?: string;
  readonly port?: number;
  readonly hostname?: string;
}

/**
 * @param knobs how the ingress's knobs begin: `--http`, `--socket`
 * @returns a sentence for the operator; an error of another kind keeps its message.
 */
export function listenText(error: ListenError, knobs: string): string {
  const { address, port = -1, hostname, path, syscall, code } = error;
  if (syscall === undefined || code === undefined) return error.message;
  const isPath = hostname === undefined && port < 0;
  const name = hostname ?? address ?? path ?? 'its address';
  const at = isPath || port < 0 ? name : `${name.includes(':') ? `[${name}]` : name}:${port}`;
  const isPort = !isPath && (code === 'EADDRINUSE' || code === 'EACCES');
  const knob = `${knobs}-${isPath ? 'path' : isPort ? 'port' : 'host'}`;
  const advice = `${adviceOf(code, isPath)}choose another with ${knob}`;
  // The directory of the path is made first, and a file may stand in its place.
  const why = syscall === 'mkdir' && code === 'EEXIST' ? { code: 'ENOTDIR' } : error;
  return `cannot listen at ${at}: ${errnoText(why)}; ${advice}`;
}

function adviceOf(code: string, isPath: boolean): string {
  if (code === 'EADDRINUSE') return 'stop the program that listens there, or ';
  return code === 'EACCES' && !isPath ? 'ports below 1024 need a privilege; ' : '';
}
