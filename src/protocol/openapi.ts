// Owns the OpenAPI 3.1 document. It is made from the table of operations, from the forms that
// validate requests, and from the descriptions of answers.

import type { Route } from '../model/operation.ts';
import { OPERATION_NAMES, type OperationName, operationOf } from '../model/operations.ts';
import { LeaseIdText, QueueName, TaskIdText } from '../model/request-fields.ts';
import type { Schema } from '../model/schema.ts';
import { ANSWERS } from './answer-schemas.ts';
import { FORMS } from './forms.ts';

type Json = Record<string, unknown>;

const PATH_FIELDS: Readonly<Record<string, Schema>> = {
  task_id: TaskIdText,
  lease_id: LeaseIdText,
  queue: QueueName,
};
const REFUSALS: Readonly<Record<number, string>> = {
  400: 'malformed',
  401: 'The token is missing or wrong.',
  403: 'The request comes from a web page.',
  404: 'unknown_task, unknown_lease',
  409: 'CANCELLED, or REJECTED because of what happened before',
  413: 'too_large',
  415: 'malformed: the body is encoded',
  422: 'request_id_conflict',
  503: 'UNAVAILABLE: try again after Retry-After',
};

/** @param version of the product. */
export function openApi(version: string): Json {
  const paths: Record<string, Json> = {};
  for (const name of OPERATION_NAMES) {
    const { http } = operationOf(name);
    if (http === undefined) continue;
    const method = http.method.toLowerCase();
    paths[http.path] = { ...paths[http.path], [method]: describe(name, http) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'leasehold',
      version,
      summary: 'A durable, lease-based task coordinator.',
      description: 'Every request that changes something causes exactly one record, or a refusal.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: 'http://127.0.0.1:5327', description: 'The default address.' }],
    tags: [
      { name: 'tasks', description: 'What is to be done, and what became of it.' },
      { name: 'leases', description: "A worker's side: take, hold, report." },
      { name: 'log', description: 'What happened, record by record.' },
      { name: 'service', description: 'The coordinator itself.' },
    ],
    security: [{ bearer: [] }, {}],
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'When the server has a token.' },
      },
      schemas: ANSWERS,
    },
  };
}

function describe(name: OperationName, row: Route): Json {
  const { id = name, tag, summary, method, rawBody, open, path, inQuery = [] } = row;
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '');
  const form = FORMS[name];
  const fields = without(form, inPath);
  const parameters = [
    ...inPath.map((field) => parameter('path', field, PATH_FIELDS[field] ?? {}, true)),
    ...(method === 'GET' || rawBody ? queryOf(fields) : []),
    ...inQuery.map((field) => parameter('query', field, form.properties[field] ?? {}, false)),
    ...(row.idempotencyKey ? [idempotencyKey()] : []),
  ];
  const body = rawBody
    ? bodyOf('application/octet-stream', {})
    : bodyOf('application/json', fields);
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(open ? { security: [] } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(method === 'POST' ? { requestBody: body } : {}),
    responses: responsesOf(row),
  };
}

function responsesOf({ answer, refusals, open, method }: Route): Json {
  const responses: Json = {};
  for (const status of MAKES.has(answer) ? [200, 201] : [200]) {
    responses[status] = { description: describeSuccess(status), content: contentOf(answer) };
  }
  const guarded = open ? [] : [401, 403];
  for (const status of [...refusals, ...guarded, ...(method === 'POST' ? [415] : [])]) {
    const schema = { $ref: '#/components/schemas/Problem' };
    responses[status] = {
      description: REFUSALS[status],
      ...(status === 503 ? { headers: { 'retry-after': retryAfter() } } : {}),
      content: { 'application/problem+json': { schema } },
    };
  }
  return responses;
}

/** Answers to what makes a task: 201, or 200 where an earlier request has made it. */
const MAKES: ReadonlySet<string> = new Set(['Submitted', 'Redriven']);
const describeSuccess = (status: number): string => (status === 201 ? 'Made.' : 'Answered.');
const retryAfter = (): Json => ({ description: 'In seconds.', schema: { type: 'integer' } });

function contentOf(answer: string): Json {
  const text = { schema: { type: 'string' } };
  switch (answer) {
    case 'text':
      return { 'text/plain': text };
    case 'bytes':
      return { 'application/octet-stream': {} };
    case 'ndjson':
      return { 'application/x-ndjson': text };
    case 'story': {
      const facts = { schema: { $ref: '#/components/schemas/Facts' } };
      return { 'application/json': facts, 'text/plain': text, 'image/svg+xml': text };
    }
    default:
      return { 'application/json': { schema: { $ref: `#/components/schemas/${answer}` } } };
  }
}

interface ObjectSchema {
  readonly properties: Readonly<Record<string, object>>;
  readonly required?: readonly string[] | undefined;
}

/** The fields of a form that the path does not give. */
function without(schema: ObjectSchema, names: readonly string[]): ObjectSchema {
  const rest = Object.entries(schema.properties).filter(([name]) => !names.includes(name));
  const required = (schema.required ?? []).filter((name) => !names.includes(name));
  const { required: _, ...others } = schema;
  const properties = Object.fromEntries(rest);
  return { ...others, properties, ...(required.length > 0 ? { required } : {}) };
}

const queryOf = ({ properties, required = [] }: ObjectSchema): Json[] =>
  Object.entries(properties).map(([name, schema]) =>
    parameter('query', name, schema, required.includes(name)),
  );

const parameter = (where: string, name: string, schema: object, required: boolean): Json => ({
  name,
  in: where,
  required,
  schema,
});

const idempotencyKey = (): Json => ({
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'The same as request_id.',
  schema: { type: 'string', maxLength: 256 },
});

const bodyOf = (type: string, schema: object = {}): Json => ({
  required: ((schema as ObjectSchema).required ?? []).length > 0,
  content: { [type]: { schema } },
});
