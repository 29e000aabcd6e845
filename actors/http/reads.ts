// Owns the routes that the coordinator is not asked for: the log, explain and metrics come from the
// reader, health and configuration are known here.

import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { SINGLE } from '../../src/model/cluster-view.ts';
import type { ParseLimits } from '../../src/model/limits.ts';
import { isRefusal, notLeader, type Unavailable, unavailable } from '../../src/model/refusal.ts';
import { answerOf } from '../../src/protocol/answer-frame.ts';
import { formatRefusal } from '../../src/protocol/answer-text.ts';
import { unknownParameter } from '../../src/protocol/form-words.ts';
import { openApi } from '../../src/protocol/openapi.ts';
import type { Progress } from '../shared/progress.ts';
import type { ReaderAnswer, ReaderGate, StoryForm } from '../shared/reader-gate.ts';
import { readRequest } from './fields.ts';
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
      const asked = readRequest('explain', request, NO_LIMITS);
      if (isRefusal(asked)) return sendRefusal(reply, asked);
      const { taskId, columns, at, format } = asked;
      const refusal = at === undefined ? undefined : unreadable(progress);
      if (refusal !== undefined) return sendRefusal(reply, refusal);
      const form = format ?? formOf(request.headers.accept);
      void pass(reader.explain(taskId, form, columns, at), reply);
    },
    log(request, reply) {
      const asked = readRequest('log', request, NO_LIMITS);
      const refusal = unreadable(progress);
      if (isRefusal(asked)) return sendRefusal(reply, asked);
      if (refusal !== undefined) return sendRefusal(reply, refusal);
      void pass(reader.log(asked), reply);
    },
    segments: withoutQuery((_, reply) => void pass(reader.copy(), reply)),
    metrics: (_, reply) => void pass(reader.metrics(), reply),
    config: withoutQuery(constant(JSON.stringify(shownConfig))),
    cluster: withoutQuery((_, reply) =>
      sendJson(reply, JSON.stringify(progress.cluster.read() ?? SINGLE)),
    ),
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

/**
 * Not for metrics, health and the description: the programs that fetch these may add a parameter
 * that keeps a cache from answering.
 */
function withoutQuery(handler: Handler): Handler {
  return (request, reply) => {
    const refusal = unknownParameter(request.query as object);
    if (refusal === undefined) handler(request, reply);
    else sendRefusal(reply, refusal);
  };
}

function sendJson(reply: FastifyReply, json: string): void {
  reply.header('content-type', JSON_TYPE).send(asLine(Buffer.from(json)));
}

async function pass(answer: Promise<ReaderAnswer>, reply: FastifyReply): Promise<void> {
  const { status, contentType, body, leader } = await answer;
  if (leader !== undefined) reply.header('leasehold-leader', leader);
  if (status === 503) reply.header('retry-after', leader === undefined ? 1 : 0);
  reply.code(status).header('content-type', contentType);
  if (body instanceof Readable) {
    if (reply.request.method === 'HEAD') {
      // Fastify would read the stream to its end, for nobody.
      body.destroy();
      return void reply.send(Readable.from([]));
    }
    reply.send(body);
    // A follower must know that it is heard before there is anything to show.
    reply.raw.flushHeaders();
    return;
  }
  reply.send(/[/+]json\b/.test(contentType) ? asLine(Buffer.from(body)) : body);
}

const FORM_OF: ReadonlyMap<string, StoryForm> = new Map([
  ['image/svg+xml', 'svg'],
  ['image/*', 'svg'],
  ['text/plain', 'text'],
  ['text/*', 'text'],
  ['application/json', 'json'],
  ['application/*', 'json'],
  ['*/*', 'json'],
]);

/** @returns the form that is wanted most, of several the first; JSON where none is wanted. */
export function formOf(accept = ''): StoryForm {
  let form: StoryForm = 'json';
  let most = 0;
  for (const range of accept.toLowerCase().split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
    const weight = parameters.find((one) => one.startsWith('q='))?.slice(2);
    // What is no number counts as nothing: 0 says that this form is not wanted at all.
    const wanted = weight === undefined ? 1 : Number(weight);
    const named = FORM_OF.get(type);
    if (named === undefined || !(wanted > most)) continue;
    most = wanted;
    form = named;
  }
  return form;
}

function showReadiness(progress: Progress, reply: FastifyReply): void {
  const refusal = notReady(progress);
  if (refusal === undefined) {
    const refusing = progress.cluster.read()?.refusing;
    // All but new tasks is decided: a load balancer must not keep reports away.
    sendJson(reply, JSON.stringify({ status: 'ready', ...(refusing && { refusing }) }));
    return;
  }
  const text = formatRefusal(refusal).slice(0, -1);
  const answer = answerOf(refusal);
  sendAnswer(reply, answer.with(answer.status, `${text},${standingText(progress)}}`));
}

/** How far it is from being ready: of the replay, or of the records that others have written. */
function standingText({ phase, replay, cluster }: Progress): string {
  const view = cluster.read();
  if (phase === 'following') return `"role":"follower","lag":${view?.lag ?? null}`;
  return `"replay":{"records":${replay.records},"of":${replay.of}}`;
}

/** @returns why the log cannot be shown at present. */
function unreadable(progress: Progress): Unavailable | undefined {
  const { phase } = progress;
  const isAhead = phase === 'starting' || phase === 'recovering' || phase === 'following';
  return isAhead ? notReady(progress) : undefined;
}

function notReady({ phase, cluster }: Progress): Unavailable | undefined {
  switch (phase) {
    case 'ready':
      return cluster.read()?.trouble ? unavailable('log_unavailable', NO_ETCD) : undefined;
    case 'starting':
    case 'recovering':
      return unavailable('recovering', 'The log is being replayed.');
    case 'stopping':
      return unavailable('shutting_down', 'The coordinator is stopping.');
    case 'refusing':
      return unavailable('log_unavailable', cluster.read() ? NOT_CONFIRMED : TAKES_NONE);
    case 'following':
      return notLeader(cluster.read()?.leader?.url);
    case 'down':
      return unavailable('log_unavailable', 'The coordinator is gone.');
  }
}

const NO_ETCD = 'etcd does not answer this node; nothing is decided or read until it does.';
const TAKES_NONE = 'The log takes no records now; reads are answered.';
const NOT_CONFIRMED = 'The log takes no records now; reads are refused unless etcd confirms them.';
