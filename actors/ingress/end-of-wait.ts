// Owns how long an empty page of the log is held back. Many pages that may wait are answered at
// once, so whatever watches the time and the asker ends with the answer.

interface EndOfWait {
  /** Aborts when the time is over, or earlier by the asker's signal. */
  readonly signal: AbortSignal;
  /** Ends the watch. */
  undo(): void;
}

export function endOfWait(waitMs: number, hurry: AbortSignal | undefined): EndOfWait {
  const ended = new AbortController();
  const end = (): void => ended.abort();
  const timer = setTimeout(end, waitMs);
  hurry?.addEventListener('abort', end);
  if (hurry?.aborted === true) end();
  const undo = (): void => {
    clearTimeout(timer);
    hurry?.removeEventListener('abort', end);
  };
  return { signal: ended.signal, undo };
}
