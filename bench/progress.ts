// Owns the line on a terminal that tells how far a run is. Where no terminal is, it says nothing:
// what is piped into a file is the result alone.

export interface Progress {
  say(text: string): void;
  done(): void;
}

export function progressOn(stream: NodeJS.WriteStream = process.stderr): Progress {
  if (!stream.isTTY) return { say: () => {}, done: () => {} };
  const started = performance.now();
  const write = (text: string): void => {
    stream.write(`\r\x1b[K${text}`);
  };
  return {
    say(text) {
      const seconds = Math.round((performance.now() - started) / 1_000);
      write(`${text} (${seconds} s)`.slice(0, (stream.columns ?? 80) - 1));
    },
    done: () => write(''),
  };
}
