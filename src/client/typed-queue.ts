// Owns a queue as its submitters see it: the queue's name and the schema of its payloads, given
// once.

import { assertFits, type Schema } from './payload-schema.ts';
import type { CallOptions, SubmitOptions, Submitted } from './types.ts';

export interface QueueOptions<Payload> {
  /** Judges each payload before it is sent; what is sent is the payload as it was given. */
  readonly schema?: Schema<Payload, unknown> | undefined;
}

export interface QueueSubmitOptions<Payload> extends Omit<SubmitOptions, 'payload' | 'queue'> {
  readonly payload: Payload;
}

/** A client, as far as a queue needs one. */
interface Submitter {
  submit(options: SubmitOptions, call?: CallOptions): Promise<Submitted>;
}

export class Queue<Payload = unknown> {
  readonly name: string;
  readonly #client: Submitter;
  readonly #schema: Schema<Payload, unknown> | undefined;

  constructor(client: Submitter, name: string, { schema }: QueueOptions<Payload>) {
    this.#client = client;
    this.name = name;
    this.#schema = schema;
  }

  /**
   * Submits into this queue, as `client.submit` does.
   * @throws LeaseholdError INVALID_ARGUMENT that names the fields in which the payload does not
   *   fit the schema; nothing was sent
   */
  async submit(options: QueueSubmitOptions<Payload>, call: CallOptions = {}): Promise<Submitted> {
    if (this.#schema !== undefined) await assertFits(this.#schema, options?.payload);
    // Not a spread: what is no object is refused as such.
    const all = typeof options === 'object' ? { ...options, queue: this.name } : options;
    return this.#client.submit(all, call);
  }
}
