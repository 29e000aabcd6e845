// Owns the span of one attempt at one task: from the start of the handler to the answer to the
// report. The span is a child of the span in which the task was created. It is active while the
// handler runs, so the user's own spans are its children, and it tells how the attempt ended.

import type { Context, Link, Span, SpanContext } from '@opentelemetry/api';
import type { ExecutionParts, Tell } from './execution.ts';
import type { HandlerHost } from './handler.ts';
import type { Lease } from './lease.ts';
import { type Api, loadedOpenTelemetry, openTelemetry, tracerOf } from './open-telemetry.ts';
import { reasonOf } from './reason.ts';
import { attributesOf, failSpan, spanName, spansInHand } from './spans.ts';
import { creationOf, readTraceparent, traceparentOf } from './trace-context.ts';
import type { WorkerEvents } from './worker-events.ts';

/** Attempts of this process that a later attempt may follow. */
const REMEMBERED_MAX = 1_000;
const remembered = new Map<string, SpanContext>();

/** @returns undefined when nothing is traced. */
export function attemptSpan(lease: Lease, workerId: string): AttemptSpan | undefined {
  const api = loadedOpenTelemetry();
  return api === undefined ? undefined : new AttemptSpan(api, lease, workerId);
}

export class AttemptSpan {
  readonly #api: Api;
  readonly #lease: Lease;
  readonly #workerId: string;
  #span: Span | undefined;

  constructor(api: Api, lease: Lease, workerId: string) {
    this.#api = api;
    this.#lease = lease;
    this.#workerId = workerId;
  }

  /** The same parts, whose events the span hears. */
  hearing(parts: ExecutionParts): ExecutionParts {
    const tell: Tell = (name, ...args) => {
      if (this.#span !== undefined) this.#hear(this.#span, name, args[0]);
      parts.tell(name, ...args);
    };
    return { ...parts, tell };
  }

  /** Begins the span. @returns a host that calls handlers within it */
  begin(host: HandlerHost): HandlerHost {
    const [span, context] = this.#start();
    this.#span = span;
    spansInHand.set(this.#lease, context);
    return {
      prepare: () => host.prepare(),
      close: () => host.close(),
      run: async (task, handlerContext) => {
        try {
          return await this.#api.context.with(context, () => host.run(task, handlerContext));
        } catch (error) {
          span.recordException(error instanceof Error ? error : reasonOf(error));
          throw error;
        }
      },
    };
  }

  /** May be called again, and also when the span was never begun. */
  end(): void {
    this.#span?.end();
    this.#span = undefined;
  }

  #start(): readonly [Span, Context] {
    const { ROOT_CONTEXT, SpanKind, trace } = this.#api;
    const { queue, taskId, leaseId, attempt, metadata, payload, previous } = this.#lease;
    const before = previous === undefined ? {} : previousAttributes(previous);
    const attributes = {
      ...attributesOf('process', 'process', queue),
      'messaging.message.id': taskId,
      'messaging.message.body.size': payload.length,
      'messaging.client.id': this.#workerId,
      'messaging.leasehold.lease_id': leaseId,
      'messaging.leasehold.attempt': attempt,
      ...before,
    };
    const creation = creationOf(this.#api, metadata);
    const parent =
      creation === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, creation);
    const options = { kind: SpanKind.CONSUMER, attributes, links: this.#linkBefore(creation) };
    const span = tracerOf(this.#api).startSpan(spanName('process', queue), options, parent);
    remember(keyOf(this.#lease, leaseId), span.spanContext());
    return [span, trace.setSpan(parent, span)];
  }

  /**
   * The link to the attempt before. Its span is known if that attempt ran in this process.
   * Otherwise the link leads to the span in which the task was created, the parent of both, and
   * its attributes say which lease it was.
   */
  #linkBefore(creation: SpanContext | undefined): Link[] {
    const { previous } = this.#lease;
    if (previous === undefined) return [];
    const context = remembered.get(keyOf(this.#lease, previous.leaseId)) ?? creation;
    return context === undefined ? [] : [{ context, attributes: previousAttributes(previous) }];
  }

  #hear<Name extends keyof WorkerEvents>(
    span: Span,
    name: Name,
    event: WorkerEvents[Name][0],
  ): void {
    const outcome = 'outcome' in event ? event.outcome.outcome : undefined;
    if (outcome !== undefined) span.setAttribute('messaging.leasehold.outcome', outcome);
    const reason = 'reason' in event ? event.reason : '';
    switch (name) {
      case 'leased':
      case 'protocol':
        break;
      case 'completed':
        remembered.delete(keyOf(this.#lease, this.#lease.leaseId));
        break;
      case 'released':
        span.addEvent('released');
        break;
      case 'lost':
        span.addEvent('lease lost', { reason });
        failSpan(this.#api, span, 'lease_lost', `lease lost: ${reason}`);
        break;
      case 'failed': {
        const { failure, outcome } = event as WorkerEvents['failed'][0];
        span.addEvent('failed', { kind: failure.kind, task_state: outcome.taskState });
        const type = failure.kind === 'permanent' ? 'permanent_failure' : 'failure';
        failSpan(this.#api, span, type, failure.reason);
        break;
      }
      case 'rejected': {
        const { reason } = (event as WorkerEvents['rejected'][0]).outcome;
        failSpan(this.#api, span, reason, `the report was rejected: ${reason}`);
        break;
      }
      case 'error': {
        const { code, message } = event as WorkerEvents['error'][0];
        failSpan(this.#api, span, code, message);
        break;
      }
    }
  }
}

/** What a thread needs to work within the span of a task in hand; undefined: nothing is traced. */
export function traceparentInHand(lease: Lease): string | undefined {
  const context = spansInHand.get(lease);
  const api = loadedOpenTelemetry();
  if (context === undefined || api === undefined) return undefined;
  const span = api.trace.getSpanContext(context);
  return span === undefined ? undefined : traceparentOf(span);
}

/** Calls `act` within a span of another thread, if this thread traces, too. */
export async function withinSpan<Result>(
  traceparent: string | undefined,
  act: () => Result,
): Promise<Awaited<Result>> {
  const span = readTraceparent(traceparent);
  const api = span === undefined ? undefined : await openTelemetry();
  if (span === undefined || api === undefined) return await act();
  return await api.context.with(api.trace.setSpanContext(api.ROOT_CONTEXT, span), act);
}

/** The time of creation tells two logs apart: in each, the numbers begin anew. */
const keyOf = ({ taskId, createdAt }: Lease, leaseId: string): string =>
  `${taskId} ${createdAt} ${leaseId}`;

function remember(key: string, context: SpanContext): void {
  remembered.set(key, context);
  if (remembered.size <= REMEMBERED_MAX) return;
  const [oldest] = remembered.keys();
  if (oldest !== undefined) remembered.delete(oldest);
}

function previousAttributes(previous: NonNullable<Lease['previous']>) {
  return {
    'messaging.leasehold.previous.lease_id': previous.leaseId,
    'messaging.leasehold.previous.attempt': previous.attempt,
    'messaging.leasehold.previous.ended': previous.ended,
  };
}
