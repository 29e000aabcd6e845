// Owns the messages between an ingress thread and the reader thread. Ids pair an answer with its
// question. The ingress asks for one page after the other, so neither side ever gathers more than
// a page.

import type { ThreadFigures } from '../../src/metrics/request-times.ts';
import type { Rejected } from '../../src/model/refusal.ts';
import type { LogQuery } from '../../src/reader/log-query.ts';
import type { StoryForm } from './reader-gate.ts';

export type ToReader =
  /** wait: an empty page is answered only when there is something to show, or the asker hurries. */
  | { readonly kind: 'page'; readonly id: number; readonly query: LogQuery; readonly wait: boolean }
  /** standing: the JSON of a Standing that the coordinator has answered. */
  | {
      readonly kind: 'explain';
      readonly id: number;
      readonly standing: string;
      readonly form: StoryForm;
      readonly columns?: number | undefined;
    }
  /** The story as it was after the record `at`, which is not beyond the newest durable one. */
  | {
      readonly kind: 'explain at';
      readonly id: number;
      readonly taskId: number;
      readonly at: number;
      readonly form: StoryForm;
      readonly columns?: number | undefined;
    }
  /** Nobody wants the answer any more. */
  | { readonly kind: 'cancel'; readonly id: number }
  /** A page is to wait no longer: it is answered with what there is. */
  | { readonly kind: 'hurry'; readonly id: number }
  /** The next chunk of a copy of the log. The asker's number is used first to begin it. */
  | { readonly kind: 'copy'; readonly id: number; readonly copy: number }
  | { readonly kind: 'end copy'; readonly id: number; readonly copy: number }
  /** What all other threads have measured. */
  | { readonly kind: 'figures'; readonly id: number }
  /** What this thread has measured, asked for by `ask figures`. */
  | { readonly kind: 'own figures'; readonly id: number; readonly figures: ThreadFigures };

export interface PageAnswer {
  readonly kind: 'page';
  readonly id: number;
  readonly body: Uint8Array;
  readonly records: number;
  readonly next: number;
  readonly to: number;
}

export type FromReader =
  | PageAnswer
  | { readonly kind: 'text'; readonly id: number; readonly body: Uint8Array }
  /** Of a copy; empty at its end. */
  | { readonly kind: 'chunk'; readonly id: number; readonly body: Uint8Array }
  | { readonly kind: 'figures'; readonly id: number; readonly threads: readonly ThreadFigures[] }
  /** A question to the other thread; its id is the reader's. */
  | { readonly kind: 'ask figures'; readonly id: number }
  /** The question cannot be answered, and the asker is told why: a Rejected. */
  | { readonly kind: 'refused'; readonly id: number; readonly refusal: Rejected }
  /** Of our own errors: a damaged record, a log that cannot be read. */
  | { readonly kind: 'failed'; readonly id: number; readonly message: string };
