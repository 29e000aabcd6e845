// Owns the seam between an ingress and the reader actor: what is asked about the log as such, which
// never disturbs the coordinator. An ingress passes the answer on and knows nothing of records.

import type { Readable } from 'node:stream';
import type { MessagePort } from 'node:worker_threads';
import { formatRefusal } from '../src/protocol/problem.ts';
import { unavailable } from '../src/protocol/response.ts';
import type { LogFields } from '../src/protocol/schemas.ts';

export interface ReaderAnswer {
  readonly status: number;
  readonly contentType: string;
  /** A stream is a follower: it ends with its client, or when the reader stops. */
  readonly body: string | Buffer | Readable;
}

export type StoryForm = 'json' | 'text' | 'svg';

/** Never rejects: trouble is an answer. */
export interface ReaderGate {
  log(query: LogFields): Promise<ReaderAnswer>;
  explain(taskId: number, form: StoryForm): Promise<ReaderAnswer>;
  /** Prometheus text. */
  metrics(): Promise<ReaderAnswer>;
}

const NOT_READY: ReaderAnswer = {
  status: 503,
  contentType: 'application/problem+json',
  body: formatRefusal(unavailable('recovering', 'The log cannot be read yet.')),
};

/** Answers as long as there is no reader. */
export const noReader: ReaderGate = {
  log: async () => NOT_READY,
  explain: async () => NOT_READY,
  metrics: async () => NOT_READY,
};

/** @param _port the channel to the reader; it is not asked before the reader speaks on it. */
export function readerOver(_port: MessagePort): ReaderGate {
  return noReader;
}
