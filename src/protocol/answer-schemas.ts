// Owns the names under which /openapi.json shows the answers. model/answer-table.ts describes the
// fields of each answer, and answer-text.ts writes answers by the same description.

import { schemaOf } from '../model/answer-fields.ts';
import * as a from '../model/answer-table.ts';
import { REASONS } from '../model/refusal.ts';
import { as, integer, list, type ObjectSchema, object, text } from '../model/schema.ts';

const { required: _, ...refusal } = schemaOf(a.refusal);
const word = (values: readonly string[], description: string) =>
  as<string>({ type: 'string', enum: [...values], description });
const head = object(
  {
    type: text(),
    title: text(),
    status: integer(),
    detail: text(),
    outcome: word(['CANCELLED', 'REJECTED', 'UNAVAILABLE'], 'What a program decides by.'),
    reason: word(Object.keys(REASONS), 'Why, as a word.'),
  },
  { description: 'A refusal (RFC 9457).' },
);

const described = {
  Submitted: schemaOf(a.submitted),
  Leased: schemaOf(a.leased),
  HeartbeatOk: schemaOf(a.heartbeat),
  Committed: schemaOf(a.committed),
  Redriven: schemaOf(a.redriven),
  Task: schemaOf({ ...a.summary, ...a.taskBytes }),
  Tasks: schemaOf(a.tasks),
  Queues: schemaOf(a.queues),
  Workers: schemaOf(a.workers),
  Batch: object(
    {
      answers: list(
        object({ http_status: integer() }, { description: 'The body it would have alone.' }),
      ),
    },
    { additionalProperties: false },
  ),
  Problem: { ...head, properties: { ...head.properties, ...refusal.properties } },
  Facts: object({}, { additionalProperties: true, description: 'Facts for people.' }),
};
export type AnswerName = keyof typeof described;
export const ANSWERS: Readonly<Record<AnswerName, ObjectSchema>> = described;
