// Owns what an ingress makes of the reader's answers: a status, a content type and a body. Trouble
// is an answer too.

import { type Rejected, unavailable } from '../../src/model/refusal.ts';
import { answerOf } from '../../src/protocol/answer-frame.ts';
import { formatRefusal } from '../../src/protocol/answer-text.ts';
import type { ReaderAnswer, StoryForm } from '../shared/reader-gate.ts';
import type { FromReader } from '../shared/reader-messages.ts';

const TYPES: Readonly<Record<StoryForm, string>> = {
  json: 'application/json; charset=utf-8',
  text: 'text/plain; charset=utf-8',
  svg: 'image/svg+xml',
};
const PROBLEM = 'application/problem+json';
export const LINES = 'application/x-ndjson';
export const BYTES = 'application/octet-stream';
export const PROMETHEUS = 'text/plain; version=0.0.4; charset=utf-8';

/** An answer of the coordinator, as text. */
export interface Stood {
  readonly status: number;
  readonly text: string;
  readonly leader?: string | undefined;
}

export const lost = (id: number): FromReader => ({
  kind: 'failed',
  id,
  message: 'the reader is not there; ask again',
});

export const unfit = (id: number): Extract<FromReader, { kind: 'failed' }> => ({
  kind: 'failed',
  id,
  message: 'not an answer to that question',
});

export const problem = ({ status, text, leader }: Stood): ReaderAnswer => ({
  status,
  leader,
  contentType: PROBLEM,
  body: text,
});

export const story = (body: Uint8Array, form: StoryForm): ReaderAnswer => ({
  status: 200,
  contentType: TYPES[form],
  body: Buffer.from(body),
});

/** @param lines one JSON object a line. */
export function pageOf(lines: string, next: number, more: boolean): ReaderAnswer {
  const records = lines.trimEnd().replaceAll('\n', ',');
  const body = `{"records":[${records}],"next":${next},"more":${more}}`;
  return { status: 200, contentType: TYPES.json, body };
}

export const broken = (answer: FromReader): ReaderAnswer =>
  answer.kind === 'refused' ? refused(answer.refusal) : failed(answer);

const refused = (refusal: Rejected): ReaderAnswer => ({
  status: answerOf(refusal).status,
  contentType: PROBLEM,
  body: formatRefusal(refusal),
});

const failed = (answer: FromReader): ReaderAnswer => ({
  status: 503,
  contentType: PROBLEM,
  body: formatRefusal(
    unavailable(
      'log_unavailable',
      `The log could not be read: ${(answer.kind === 'failed' ? answer : unfit(0)).message}.`,
    ),
  ),
});
