// Spans of the library, as the SDK of a program sees them: their names, parents and links, and how
// they tell what became of an attempt. Without an SDK nothing of it is loaded.

import { once } from 'node:events';
import {
  context,
  createTraceState,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node';
import { expect } from 'chai';
import { Client, type Handler, PermanentFailure, type WorkerOptions } from '../../src/index.ts';
import { startCoordinator, type TestCoordinator } from '../../src/testing/testing.ts';
import { event, startWorker, stopWorkers } from './worker-support.ts';

const spans = new InMemorySpanExporter();
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });

const named = (name: string): ReadableSpan[] =>
  spans.getFinishedSpans().filter((span) => span.name === name);
const only = (name: string): ReadableSpan => {
  const found = named(name);
  expect(found, `${name} of ${spans.getFinishedSpans().map((span) => span.name)}`).to.have.length(
    1,
  );
  return found[0] as ReadableSpan;
};
const traceparent = (span: ReadableSpan): string => {
  const { traceId, spanId } = span.spanContext();
  return `00-${traceId}-${spanId}-01`;
};
const eventsOf = (span: ReadableSpan): string[] => span.events.map(({ name }) => name);
const ids = (span: ReadableSpan | undefined) => span?.spanContext().spanId;
const linked = (span: ReadableSpan) => span.links.map((link) => link.context.spanId);

describe('traces', () => {
  let coordinator: TestCoordinator;
  let client: Client;
  before(() => provider.register());
  after(async () => {
    await provider.shutdown();
    trace.disable();
    context.disable();
  });
  beforeEach(async () => {
    spans.reset();
    // Long leases: on a busy machine nothing but what a test does shall end one.
    const times = { leaseDurationMs: 600_000, heartbeatIntervalMs: 60_000 };
    coordinator = await startCoordinator({ ...times, backoffMs: 0, maxRetries: 1 });
    client = new Client({ url: coordinator.url });
  });
  afterEach(async () => {
    await stopWorkers();
    client.close();
    await coordinator.stop();
  });

  const submit = async (more: object = {}): Promise<string> =>
    (await client.submit({ payload: 'a', queue: 'mail', ...more })).taskId;
  const start = (handler: Handler | URL, more: Partial<WorkerOptions> = {}) =>
    startWorker({ url: coordinator.url, queues: ['mail'], handler, ...more });
  const over = (taskId: string) => client.task(taskId, { waitMs: 30_000 });

  it('are submit, lease, process and complete, by the conventions for messaging', async () => {
    let own: Span | undefined;
    const taskId = await provider.getTracer('user').startActiveSpan('order', async (span) => {
      const id = await submit();
      span.end();
      return id;
    });
    const { worker } = start(async () => {
      await Promise.resolve();
      own = provider.getTracer('user').startSpan('own');
      own.end();
    });
    await event(worker, 'completed');
    await stopWorkers();
    const [sent, leased, done, settled] = ['submit', 'lease', 'process', 'complete'].map((op) =>
      only(`${op} mail`),
    ) as [ReadableSpan, ReadableSpan, ReadableSpan, ReadableSpan];
    expect(ids(only('order'))).to.equal(sent.parentSpanContext?.spanId);
    expect([sent, leased, done, settled].map(({ kind }) => kind)).to.deep.equal([
      SpanKind.PRODUCER,
      SpanKind.CLIENT,
      SpanKind.CONSUMER,
      SpanKind.CLIENT,
    ]);
    for (const [span, type] of [
      [sent, 'send'],
      [leased, 'receive'],
      [done, 'process'],
      [settled, 'settle'],
    ] as const) {
      expect(span.attributes).to.include({
        'messaging.system': 'leasehold',
        'messaging.operation.name': span.name.split(' ')[0],
        'messaging.operation.type': type,
        'messaging.destination.name': 'mail',
        'messaging.message.id': taskId,
      });
      expect(span.status.code).to.equal(SpanStatusCode.UNSET);
    }
    expect(sent.attributes).to.include({
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(coordinator.url).port),
    });
    expect((await over(taskId)).metadata).to.deep.equal({ traceparent: traceparent(sent) });
    expect(linked(leased)).to.deep.equal([ids(sent)]);
    expect(leased.parentSpanContext).to.equal(undefined);
    expect(done.parentSpanContext?.spanId).to.equal(ids(sent));
    expect(settled.parentSpanContext?.spanId).to.equal(ids(done));
    expect(only('own').parentSpanContext?.spanId).to.equal(ids(done));
    expect(done.attributes['messaging.leasehold.outcome']).to.equal('COMMITTED');
  });

  it('link each attempt to the one before, and tell of a failure', async () => {
    let attempts = 0;
    const { worker } = start(() => {
      attempts += 1;
      throw attempts === 1 ? new Error('no paper') : new PermanentFailure('no printer');
    });
    const ended = over(await submit());
    await event(worker, 'failed');
    expect((await ended).state).to.equal('FAILED');
    await stopWorkers();
    const [first, second] = named('process mail') as [ReadableSpan, ReadableSpan];
    expect(first.links).to.deep.equal([]);
    expect(linked(second)).to.deep.equal([ids(first)]);
    expect(second.links[0]?.attributes).to.include({
      'messaging.leasehold.previous.ended': 'failed',
      'messaging.leasehold.previous.attempt': 1,
    });
    expect(first.status).to.deep.equal({ code: SpanStatusCode.ERROR, message: 'no paper' });
    expect(eventsOf(first)).to.deep.equal(['exception', 'failed']);
    expect(first.attributes['error.type']).to.equal('failure');
    expect(second.attributes['error.type']).to.equal('permanent_failure');
    expect(named('fail mail').map((span) => span.parentSpanContext?.spanId)).to.deep.equal([
      ids(first),
      ids(second),
    ]);
  });

  it('tell of a lost lease, and link to it from the next attempt', async () => {
    const taken: string[] = [];
    const { worker } = start(
      async (task, { stillMine }) => {
        taken.push(task.leaseId);
        if (task.attempt > 1) return;
        await coordinator.expire(task);
        expect(await stillMine()).to.equal(false);
      },
      { quiet: true },
    );
    const lost = event(worker, 'lost');
    const completed = event(worker, 'completed');
    await submit();
    await lost;
    expect((await completed).task.attempt).to.equal(2);
    await stopWorkers();
    const [first, second] = named('process mail') as [ReadableSpan, ReadableSpan];
    expect(first.status.code).to.equal(SpanStatusCode.ERROR);
    expect(first.attributes['error.type']).to.equal('lease_lost');
    expect(eventsOf(first)).to.deep.equal(['lease lost']);
    expect(linked(second)).to.deep.equal([ids(first)]);
    expect(second.links[0]?.attributes?.['messaging.leasehold.previous.lease_id']).to.equal(
      taken[0],
    );
    expect(second.status.code).to.equal(SpanStatusCode.UNSET);
  });

  it('tell of a task that is given back, which is no failure', async () => {
    await submit();
    const { worker } = start(async (_, { signal }) => {
      await once(signal, 'abort');
      signal.throwIfAborted();
    });
    await event(worker, 'leased');
    await worker.stop({ graceMs: 0 });
    const span = only('process mail');
    expect(eventsOf(span)).to.deep.equal(['exception', 'released']);
    expect(span.status.code).to.equal(SpanStatusCode.UNSET);
    expect(only('fail mail').attributes['messaging.leasehold.kind']).to.equal('released');
  });

  it('end when the worker leaves a handler alone', async () => {
    await submit();
    const { worker } = start(() => new Promise(() => {}), { quiet: true });
    await event(worker, 'leased');
    await worker.stop({ graceMs: 0, abortMs: 0 });
    expect(only('process mail').status.message).to.equal('lease lost: handler_did_not_end');
  });

  it('of an attempt after one that was not here link to where the task was created', async () => {
    await submit();
    const { leases } = await client.lease({ workerId: 'elsewhere', queues: ['mail'] });
    await coordinator.expire(leases[0] as (typeof leases)[0]);
    const { worker } = start(() => 'done');
    await event(worker, 'completed');
    await stopWorkers();
    const { links } = only('process mail');
    expect(links.map((link) => link.context.spanId)).to.deep.equal([ids(only('submit mail'))]);
    expect(links[0]?.attributes).to.deep.equal({
      'messaging.leasehold.previous.lease_id': leases[0]?.leaseId,
      'messaging.leasehold.previous.attempt': 1,
      'messaging.leasehold.previous.ended': 'expired',
    });
  });

  it('leave a context alone that the user put there, and link to it', async () => {
    const given = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    const taskId = await submit({ metadata: { traceparent: given, to: 'x' } });
    expect((await client.task(taskId)).metadata).to.deep.equal({ traceparent: given, to: 'x' });
    expect(linked(only('submit mail'))).to.deep.equal(['b'.repeat(16)]);
    const { worker } = start(() => 'done');
    await event(worker, 'completed');
    await stopWorkers();
    expect(only('process mail').parentSpanContext?.spanId).to.equal('b'.repeat(16));
  });

  it('take a text for a context only if it has the form of the W3C', async () => {
    const [id, span] = ['a'.repeat(32), 'b'.repeat(16)];
    const rest = `${id}-${span}-01`;
    const forms: readonly (readonly [text: string, isOne: boolean])[] = [
      [`00-${rest}`, true],
      [`00-${rest}-more`, false],
      [`cc-${rest}-more`, true],
      [`ff-${rest}`, false],
      [`00-${rest.toUpperCase()}`, false],
      [`00-${'0'.repeat(32)}-${span}-01`, false],
      [`00-${id}-${'0'.repeat(16)}-01`, false],
      [`00-${rest} `, false],
      ['', false],
    ];
    for (const [traceparent, isOne] of forms) {
      spans.reset();
      const taskId = await submit({ metadata: { traceparent } });
      expect(linked(only('submit mail')), traceparent).to.deep.equal(isOne ? [span] : []);
      expect((await client.task(taskId)).metadata).to.deep.equal({ traceparent });
    }
  });

  it('carry the state of the trace, and what is not sampled', async () => {
    const parent = {
      traceId: 'a'.repeat(32),
      spanId: 'b'.repeat(16),
      traceFlags: 0,
      traceState: createTraceState('vendor=1'),
    };
    const active = trace.setSpanContext(context.active(), parent);
    const taskId = await context.with(active, () => submit());
    const { metadata } = await client.task(taskId);
    expect(metadata?.tracestate).to.equal('vendor=1');
    expect(metadata?.traceparent).to.match(/^00-a{32}-(?!b{16})[0-9a-f]{16}-00$/);
    let state: string | undefined;
    const { worker } = start(() => {
      const span = trace.getActiveSpan()?.spanContext();
      state = `${span?.traceId} ${span?.traceFlags} ${span?.traceState?.serialize()}`;
    });
    await event(worker, 'completed');
    expect(state).to.equal(`${'a'.repeat(32)} 0 vendor=1`);
    await stopWorkers();
    // The lease request belongs to no trace of a task, and is sampled for itself.
    expect(spans.getFinishedSpans().map(({ name }) => name)).to.deep.equal(['lease mail']);
  });

  it('tell that the execution window was reached', async () => {
    await submit({ executionWindowMs: 1_500 });
    const { worker } = start(async (_, { signal }) => {
      await once(signal, 'abort');
    });
    await event(worker, 'failed');
    await stopWorkers();
    const span = only('process mail');
    expect(span.status.message).to.equal('execution window reached');
    expect(eventsOf(span)).to.deep.equal(['failed']);
  });

  it('do not make metadata too large', async () => {
    const room = (bytes: number) => ({ k: 'x'.repeat(bytes - 1) });
    const fits = await submit({ metadata: room(4_096 - 66) });
    const full = await submit({ metadata: room(4_096 - 65) });
    expect((await client.task(fits)).metadata).to.have.all.keys('k', 'traceparent');
    expect((await client.task(full)).metadata).to.have.all.keys('k');
  });

  it('are one for a batch, in every task that it creates', async () => {
    const answers = await client.batch([
      { op: 'submit', payload: '1', queue: 'mail' },
      { op: 'submit', payload: '2', queue: 'mail', metadata: { k: 'v' } },
    ]);
    const span = only('submit mail');
    expect(span.attributes['messaging.batch.message_count']).to.equal(2);
    for (const answer of answers) {
      const { metadata } = await client.task((answer as { taskId: string }).taskId);
      expect(metadata?.traceparent).to.equal(traceparent(span));
    }
  });

  it('tell why a submit was refused, and of a report that came too late', async () => {
    await submit({ requestId: 'one' });
    const refused = await submit({ requestId: 'one', payload: 'b' }).catch((error) => error);
    expect(refused.code).to.equal('REFUSED');
    const [, second] = named('submit mail');
    expect(second?.status.code).to.equal(SpanStatusCode.ERROR);
    expect(second?.attributes['error.type']).to.equal('request_id_conflict');
    const { leases } = await client.lease({ workerId: 'by-hand', queues: ['mail'] });
    const lease = leases[0] as (typeof leases)[0];
    await coordinator.expire(lease);
    await client.complete({ taskId: lease.taskId, leaseId: lease.leaseId });
    expect(only('complete').attributes).to.include({
      'messaging.leasehold.outcome': 'CANCELLED',
      'error.type': 'lease_expired',
    });
  });

  it('go on in the threads of handlers', async () => {
    const taskId = await submit();
    const { worker } = start(new URL('./handlers/traced.js', import.meta.url));
    await event(worker, 'completed');
    await stopWorkers();
    const span = only('process mail').spanContext();
    const active = JSON.parse(String((await over(taskId)).result)) as { spanId: string };
    expect(active).to.include({ spanId: span.spanId, traceId: span.traceId });
  });
});
