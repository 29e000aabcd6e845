// Owns the routes that the coordinator is not asked for: the log, explain and metrics come from the
// reader, health and configuration are known here.

import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { type Unavailable, unavailable } from '../../src/model/refusal.ts';
import { answerOf } from '../../src/protocol/answer-frame.ts';
import { openApi } from '../../src/protocol/openapi.ts';
import { isRefusal, readTaskId } from '../../src/protocol/parse-fields.ts';
import { formatRefusal } from '../../src/protocol/problem.ts';
import type { ExplainFields } from '../../src/protocol/schemas.ts';
import { malformed } from '../../src/protocol/validate-form.ts';
import type { Progress } from '../shared/progress.ts';
import type { ReaderAnswer, ReaderGate, StoryForm } from '../shared/reader-gate.ts';
import { readQuery } from './fields.ts';
import { asLine, JSON_TYPE, sendAnswer, sendRefusal } from './problems.ts';
import type { Route } from './routes.ts';

export interface ReadLink {
  readonly reader: ReaderGate;
  readonly progress: Progress;
  readonly shownConfig: Readonly<Record<string, unknown>>;
  readonly version: string;
}

export function readRoutes({ reader, progress, shownConfig, version }: ReadLink): Route[] {
  const config = Buffer.from(JSON.stringify(shownConfig));
  const description = Buffer.from(JSON.stringify(openApi(version)));
  return [
    {
      method: 'GET',
      url: '/v1/tasks/:task_id/explain',
      handler(request, reply) {
        const fields = { ...readQuery('explain', request.query), ...(request.params as object) };
        const fault = malformed('explain', fields);
        const taskId = fault ?? readTaskId((request.params as { task_id: string }).task_id);
        if (isRefusal(taskId)) return sendRefusal(reply, taskId);
        const { columns, at, format } = fields as unknown as ExplainFields;
        if (at !== undefined && isRecovering(progress)) {
          return sendRefusal(reply, notReady(progress) as Unavailable);
        }
        const form = format ?? formOf(request.headers.accept);
        void pass(reader.explain(taskId, form, columns, at), reply);
      },
    },
    {
      method: 'GET',
      url: '/v1/log',
      handler(request, reply) {
        const fields = readQuery('log', request.query);
        const fault = malformed('log', fields);
        const refusal = fault ?? (isRecovering(progress) ? notReady(progress) : undefined);
        if (refusal !== undefined) return sendRefusal(reply, refusal);
        void pass(reader.log(fields), reply);
      },
    },
    { method: 'GET', url: '/metrics', handler: (_, reply) => void pass(reader.metrics(), reply) },
    constant('/v1/config', config),
    constant('/openapi.json', description),
    constant('/livez', Buffer.from('{"status":"alive"}')),
    { method: 'GET', url: '/readyz', handler: (_, reply) => showReadiness(progress, reply) },
  ];
}

const constant = (url: string, json: Buffer): Route => ({
  method: 'GET',
  url,
  handler: (_, reply) => void reply.header('content-type', JSON_TYPE).send(asLine(json)),
});

/** Routes that ask for no token and take any Host: who runs the process must always see these. */
export const OPEN_ROUTES: ReadonlySet<string> = new Set(['/livez', '/readyz']);

async function pass(answer: Promise<ReaderAnswer>, reply: FastifyReply): Promise<void> {
  const { status, contentType, body } = await answer;
  if (status === 503) reply.header('retry-after', 1);
  reply.code(status).header('content-type', contentType);
  if (body instanceof Readable) {
    reply.send(body);
    // A follower must know that it is heard before there is anything to show.
    reply.raw.flushHeaders();
    return;
  }
  reply.send(/[/+]json\b/.test(contentType) ? asLine(Buffer.from(body)) : body);
}

function formOf(accept: string | undefined): StoryForm {
  if (accept === undefined) return 'json';
  const wanted = accept.split(',').map((range) => range.split(';', 1)[0]?.trim().toLowerCase());
  for (const range of wanted) {
    if (range === 'image/svg+xml') return 'svg';
    if (range === 'text/plain') return 'text';
    if (range === 'application/json') return 'json';
  }
  return 'json';
}

function showReadiness(progress: Progress, reply: FastifyReply): void {
  const refusal = notReady(progress);
  if (refusal === undefined) {
    reply.header('content-type', JSON_TYPE).send('{"status":"ready"}\n');
    return;
  }
  const { records, of } = progress.replay;
  const text = formatRefusal(refusal).slice(0, -1);
  const body = Buffer.from(`${text},"replay":{"records":${records},"of":${of}}}`);
  sendAnswer(reply, { ...answerOf(refusal), body });
}

const isRecovering = ({ phase }: Progress): boolean =>
  phase === 'starting' || phase === 'recovering';

function notReady({ phase }: Progress): Unavailable | undefined {
  switch (phase) {
    case 'ready':
      return undefined;
    case 'starting':
    case 'recovering':
      return unavailable('recovering', 'The log is being replayed.');
    case 'stopping':
      return unavailable('shutting_down', 'The coordinator is stopping.');
    case 'refusing':
      return unavailable('log_unavailable', 'The log takes no records now; reads are answered.');
    case 'down':
      return unavailable('log_unavailable', 'The coordinator is gone.');
  }
}
