// Owns what is said of options that other programs have, or that are none here: which words of this
// command mean the same.

const SERVE_PORT = '--http-port for HTTP, --socket-port for JSON-RPC';
const SERVE_HOST = '--http-host and --socket-host';

const HINTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  serve: {
    '--port': SERVE_PORT,
    '-p': SERVE_PORT,
    '--address': SERVE_HOST,
    '--host': SERVE_HOST,
    '--bind': SERVE_HOST,
    '--listen': `${SERVE_HOST}, --http-port and --socket-port`,
  },
  fail: { '--reason': 'the reason is an argument: leasehold fail LEASE REASON' },
};

/** @param argv the words of the command. @returns a sentence for an option that it has not. */
export function optionHint([command = '', ...words]: readonly string[]): string | undefined {
  const hints = Object.hasOwn(HINTS, command) ? (HINTS[command] ?? {}) : {};
  const given = words.map((word) => word.split('=', 1)[0] as string);
  const option = given.find((word) => Object.hasOwn(hints, word));
  return option === undefined ? undefined : `${option}: ${hints[option]}`;
}
