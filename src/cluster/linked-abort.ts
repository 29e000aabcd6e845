// Owns a signal of one's own that also ends with another one.

/** Aborts with the signal, or alone. */
export function linked(signal: AbortSignal): AbortController {
  const own = new AbortController();
  if (signal.aborted) own.abort();
  else signal.addEventListener('abort', () => own.abort(), { once: true });
  return own;
}
