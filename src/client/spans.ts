// Owns the spans of requests: of a submit, of a lease request that was granted tasks, and of a
// report. Their names and attributes are those of OpenTelemetry's conventions for messaging. This
// file is used only while something is traced.

import type { Attributes, Context, Span, SpanKind, SpanOptions } from '@opentelemetry/api';
import { RefusedError } from './errors.ts';
import { type Api, openTelemetry, tracerOf } from './open-telemetry.ts';
import type { Leased } from './read-answers.ts';
import { codeOf, reasonOf } from './reason.ts';
import { creationOf, linksTo, withContext } from './trace-context.ts';
import type { Call, Wire } from './transport.ts';
import type { LeaseRef, ReportOutcome, Submitted } from './types.ts';

type Metadata = Readonly<Record<string, string>>;

/** The process spans of the tasks in hand: reports about a task belong into its span. */
export const spansInHand = new WeakMap<object, Context>();

const DEFAULT_QUEUE = 'default';

/** What every span of ours says. @param queue undefined: not known, or several */
export function attributesOf(
  operation: string,
  type: 'send' | 'receive' | 'process' | 'settle',
  queue: string | undefined,
): Attributes {
  return {
    'messaging.system': 'leasehold',
    'messaging.operation.name': operation,
    'messaging.operation.type': type,
    ...(queue === undefined ? {} : { 'messaging.destination.name': queue }),
  };
}

export const spanName = (operation: string, queue: string | undefined): string =>
  queue === undefined ? operation : `${operation} ${queue}`;

/** Where requests go to, by the URL of a client; several URLs say nothing about one request. */
export function serverAttributes(url: string | readonly string[] | undefined): Attributes {
  if (typeof url !== 'string' || !URL.canParse(url)) return {};
  const { protocol, hostname, port, pathname } = new URL(url);
  if (protocol === 'unix:') return { 'server.address': pathname };
  const known = port === '' ? {} : { 'server.port': Number(port) };
  return { 'server.address': hostname, ...known };
}

export async function traceSubmit(
  params: Wire,
  server: Attributes,
  send: (params: Wire) => Promise<Submitted>,
): Promise<Submitted> {
  const api = await openTelemetry();
  if (api === undefined) return send(params);
  const queue = String(params.queue ?? DEFAULT_QUEUE);
  const span = startSend(api, { queue, server, links: [params.metadata] });
  return during(api, span, async () => {
    const answer = await send(carrying(params, span));
    span.setAttribute('messaging.message.id', answer.taskId);
    span.setAttribute('messaging.leasehold.deduplicated', answer.deduplicated);
    return answer;
  });
}

/** One span for a batch, and its context in every task that the batch creates. */
export async function traceBatch<Result>(
  calls: readonly Call[],
  server: Attributes,
  send: (calls: readonly Call[]) => Promise<Result>,
): Promise<Result> {
  const submits = calls.filter(({ op }) => op === 'submit').map(({ params }) => params);
  const api = submits.length === 0 ? undefined : await openTelemetry();
  if (api === undefined) return send(calls);
  const queues = new Set(submits.map(({ queue }) => String(queue ?? DEFAULT_QUEUE)));
  const queue = queues.size === 1 ? [...queues][0] : undefined;
  const span = startSend(api, { queue, server, links: submits.map(({ metadata }) => metadata) });
  span.setAttribute('messaging.batch.message_count', submits.length);
  return during(api, span, () =>
    send(
      calls.map((call) =>
        call.op === 'submit' ? { ...call, params: carrying(call.params, span) } : call,
      ),
    ),
  );
}

/** A request that is granted nothing has no span: workers ask for as long as they live. */
export async function traceLease(
  params: Wire,
  server: Attributes,
  ask: () => Promise<Leased>,
): Promise<Leased> {
  const startTime = performance.now();
  const answer = await ask();
  const api = answer.leases.length === 0 ? undefined : await openTelemetry();
  if (api === undefined) return answer;
  const { leases } = answer;
  const queues = new Set(leases.map(({ queue }) => queue));
  const queue = queues.size === 1 ? [...queues][0] : undefined;
  const attributes = {
    ...attributesOf('lease', 'receive', queue),
    ...server,
    'messaging.client.id': String(params.worker_id),
    'messaging.batch.message_count': leases.length,
    ...(leases.length === 1 ? { 'messaging.message.id': leases[0]?.taskId } : {}),
  };
  const links = linksTo(...leases.map(({ metadata }) => creationOf(api, metadata)));
  const options = { kind: api.SpanKind.CLIENT, attributes, links, startTime };
  tracerOf(api).startSpan(spanName('lease', queue), options).end();
  return answer;
}

/** @param lease a Lease, or an object that has its two ids: then the queue is not known */
export async function traceReport(
  { op, params }: Call,
  lease: LeaseRef & { readonly queue?: unknown; readonly metadata?: unknown },
  server: Attributes,
  send: () => Promise<ReportOutcome>,
): Promise<ReportOutcome> {
  const api = await openTelemetry();
  if (api === undefined) return send();
  const queue = typeof lease.queue === 'string' ? lease.queue : undefined;
  const attributes = {
    ...attributesOf(op, 'settle', queue),
    ...server,
    'messaging.message.id': lease.taskId,
    'messaging.leasehold.lease_id': lease.leaseId,
    ...(op === 'fail' ? { 'messaging.leasehold.kind': String(params.kind ?? 'error') } : {}),
  };
  const inHand = spansInHand.get(lease);
  const links = inHand ? [] : linksTo(creationOf(api, lease.metadata as Metadata | undefined));
  const options = { kind: api.SpanKind.CLIENT, attributes, links };
  const span = tracerOf(api).startSpan(spanName(op, queue), options, inHand);
  return during(api, span, async () => {
    const outcome = await send();
    span.setAttribute('messaging.leasehold.outcome', outcome.outcome);
    if (outcome.outcome !== 'COMMITTED') {
      failSpan(api, span, outcome.reason ?? outcome.outcome, `${op}: ${outcome.outcome}`);
    }
    return outcome;
  });
}

/** @param type of low cardinality, for those who count errors by it */
export function failSpan(api: Api, span: Span, type: string, message: string): void {
  span.setAttribute('error.type', type);
  span.setStatus({ code: api.SpanStatusCode.ERROR, message });
}

interface Sending {
  readonly queue: string | undefined;
  readonly server: Attributes;
  /** Metadata of the tasks: a context that the user gave there is linked to. */
  readonly links: readonly unknown[];
}

function startSend(api: Api, { queue, server, links }: Sending): Span {
  const kind: SpanKind = api.SpanKind.PRODUCER;
  const attributes = { ...attributesOf('submit', 'send', queue), ...server };
  const given = links.map((metadata) => creationOf(api, metadata as Metadata | undefined));
  const options: SpanOptions = { kind, attributes, links: linksTo(...given) };
  return tracerOf(api).startSpan(spanName('submit', queue), options);
}

function carrying(params: Wire, span: Span): Wire {
  const given = params.metadata as Metadata | undefined;
  const metadata = withContext(given, span.spanContext());
  return metadata === given || Object.keys(metadata).length === 0
    ? params
    : { ...params, metadata };
}

/** Ends the span when `act` has ended; what `act` throws is told by the span, and thrown. */
async function during<Result>(api: Api, span: Span, act: () => Promise<Result>): Promise<Result> {
  try {
    return await api.context.with(api.trace.setSpan(api.context.active(), span), act);
  } catch (error) {
    failSpan(api, span, errorType(error), reasonOf(error));
    throw error;
  } finally {
    span.end();
  }
}

function errorType(error: unknown): string {
  if (error instanceof RefusedError) return error.refusal.reason;
  const code = codeOf(error);
  return typeof code === 'string' ? code : '_OTHER';
}
