// Owns the seam between an ingress and the reader actor: questions about the log as such, which
// never disturb the coordinator. An ingress passes the answer on and knows nothing of records.

import type { Readable } from 'node:stream';
import type { LogFields } from '../../src/model/request.ts';

export interface ReaderAnswer {
  readonly status: number;
  readonly contentType: string;
  /** A stream is a follower: it ends with its client, or when the reader stops. */
  readonly body: string | Buffer | Readable;
  /** With 503: the URL of the node to ask instead. */
  readonly leader?: string | undefined;
}

export type StoryForm = 'json' | 'text' | 'svg';

/** Never rejects: trouble is an answer. */
export interface ReaderGate {
  log(query: LogFields): Promise<ReaderAnswer>;
  /**
   * @param columns the width of the text; the other forms have none.
   * @param at as it was after this record; undefined: as it is.
   */
  explain(taskId: number, form: StoryForm, columns?: number, at?: number): Promise<ReaderAnswer>;
  /** A whole copy of the log, in the form of src/log/copy-wire.ts. */
  copy(): Promise<ReaderAnswer>;
  /** Prometheus text. */
  metrics(): Promise<ReaderAnswer>;
}
