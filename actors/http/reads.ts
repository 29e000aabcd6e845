// Owns the routes that the coordinator is not asked for: the log, explain and metrics come from the
// reader, health and configuration are known here.

import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { ParseLimits } from '../../src/model/limits.ts';
import { type Unavailable, unavailable } from '../../src/model/refusal.ts';
import { answerOf } from '../../src/protocol/answer-frame.ts';
import { formatRefusal } from '../../src/protocol/format.ts';
import { openApi } from '../../src/protocol/openapi.ts';
import { parseRequest } from '../../src/protocol/parse.ts';
import { isRefusal } from '../../src/protocol/parse-fields.ts';
import type { Progress } from '../shared/progress.ts';
import type { ReaderAnswer, ReaderGate, StoryForm } from '../shared/reader-gate.ts';
import { readFields, readQuery } from './fields.ts';
import { asLine, JSON_TYPE, sendAnswer, sendRefusal } from './problems.ts';
import type { Handler, ReadHandlers } from './routes.ts';

export interface ReadLink {
  readonly reader: ReaderGate;
  readonly progress: Progress;
  readonly shownConfig: Readonly<Record<string, unknown>>;
  readonly version: string;
}

export function readHandlers({ reader, progress, shownConfig, version }: ReadLink): ReadHandlers {
  return {
    explain(request, reply) {
      const given = readFields('explain', request);
      const asked = isRefusal(given) ? given : parseRequest('explain', given.fields, NO_LIMITS);
      if (isRefusal(asked)) return sendRefusal(reply, asked);
      const { taskId, columns, at, format } = asked;
      if (at !== undefined && isRecovering(progress)) {
        return sendRefusal(reply, notReady(progress) as Unavailable);
      }
      const form = format ?? formOf(request.headers.accept);
      void pass(reader.explain(taskId, form, columns, at), reply);
    },
    log(request, reply) {
      const asked = parseRequest('log', readQuery('log', request.query), NO_LIMITS);
      const refusal = isRecovering(progress) ? notReady(progress) : undefined;
      if (isRefusal(asked)) return sendRefusal(reply, asked);
      if (refusal !== undefined) return sendRefusal(reply, refusal);
      void pass(reader.log(asked), reply);
    },
    metrics: (_, reply) => void pass(reader.metrics(), reply),
    config: constant(JSON.stringify(shownConfig)),
    openapi: constant(JSON.stringify(openApi(version))),
    livez: constant('{"status":"alive"}'),
    readyz: (_, reply) => showReadiness(progress, reply),
  };
}

/** These have no bytes. */
const NO_LIMITS: ParseLimits = { payloadMaxBytes: 0 };

function constant(json: string): Handler {
  const line = asLine(Buffer.from(json));
  return (_, reply) => void reply.header('content-type', JSON_TYPE).send(line);
}

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
