// Owns the coordinator's limit for a result. The worker asks for the limit once, and only when a
// result is large.

import type { Client } from './client.ts';

export class ResultLimit {
  readonly #client: Client;
  #asked: Promise<number> | undefined;

  constructor(client: Client) {
    this.#client = client;
  }

  /** Bytes; Infinity when it cannot be learned: the coordinator then refuses by itself. */
  maxBytes(): Promise<number> {
    this.#asked ??= this.#client.config().then(
      (config) => payloadMaxBytes(config) ?? Number.POSITIVE_INFINITY,
      () => Number.POSITIVE_INFINITY,
    );
    return this.#asked;
  }
}

/** Reads the one knob from an answer of `config`, plain or with its source beside it. */
export function payloadMaxBytes(config: Record<string, unknown>): number | undefined {
  const knobs = (config.knobs ?? config) as Record<string, unknown>;
  const knob = knobs.payload_max_bytes;
  const isExplained = typeof knob === 'object' && knob !== null;
  const value = isExplained ? (knob as { value?: unknown }).value : knob;
  return typeof value === 'number' ? value : undefined;
}
