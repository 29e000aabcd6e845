// Owns the client: one method for each request of the interface, sent over the transport that the
// URL names. The client retries trouble on the way (resend.ts decides when) and nothing else. Every
// outcome is returned as a value, CANCELLED too.

import { toWire } from '../protocol/client-wire.ts';
import { type ClientOptions, DEFAULT_URL, type Exchange, Exchanger } from './exchanger.ts';
import { isTraced } from './open-telemetry.ts';
import { assertOptions } from './option-checks.ts';
import { CALL, CLIENT, QUEUE, READ, TASKS } from './option-tables.ts';
import * as answers from './read-answers.ts';
import {
  askParams,
  type BatchRequest,
  batchCall,
  failParams,
  leaseCall,
  resultField,
  submitParams,
} from './request-params.ts';
import { serverAttributes, traceBatch, traceLease, traceReport, traceSubmit } from './spans.ts';
import type { Answer, Call, Wire } from './transport.ts';
import { Queue, type QueueOptions } from './typed-queue.ts';
import type * as t from './types.ts';

export type BatchOutcome =
  | t.Submitted
  | answers.Leased
  | t.HeartbeatOutcome
  | t.ReportOutcome
  | t.Redriven;
export class Client {
  readonly #exchanger: Exchanger;
  readonly #url: ClientOptions['url'];

  /**
   * Makes a client; the first request connects.
   * @throws LeaseholdError INVALID_OPTION for an option that is unknown, or whose value is not
   *   allowed
   */
  constructor(options: ClientOptions = {}) {
    assertOptions('Client', options, CLIENT);
    this.#exchanger = new Exchanger(options);
    this.#url = options.url ?? DEFAULT_URL;
  }

  /** @throws RefusedError, for example `request_id_conflict`. */
  async submit(options: t.SubmitOptions, call: t.CallOptions = {}): Promise<t.Submitted> {
    const send = async (params: Wire): Promise<t.Submitted> => {
      const body = await this.#one({ op: 'submit', params }, call);
      return answers.submitted(body, params.request_id as string);
    };
    const params = submitParams(options);
    return isTraced() ? traceSubmit(params, serverAttributes(this.#url), send) : send(params);
  }

  /**
   * Asks for leases of up to `max` tasks, and waits up to `waitMs` ms for the first one. The
   * request is not repeated once it may have been written: the coordinator may have granted
   * already, and a repeated request would be granted further tasks. A grant whose answer is lost
   * expires by itself.
   */
  async lease(options: t.LeaseOptions, call: t.CallOptions = {}): Promise<answers.Leased> {
    const request: Call = { op: 'lease', params: askParams(options) };
    const waitMs = options.waitMs ?? 0;
    const ask = async (): Promise<answers.Leased> => {
      const { answers: got } = await this.#run([request], call, waitMs);
      return answers.leased(got[0] as Answer);
    };
    return isTraced() ? traceLease(request.params, serverAttributes(this.#url), ask) : ask();
  }

  async heartbeat(lease: t.LeaseRef, call: t.CallOptions = {}): Promise<t.HeartbeatOutcome> {
    const { answers: got } = await this.#run([leaseCall('heartbeat', lease)], call);
    return answers.heartbeat(got[0] as Answer);
  }

  async complete(
    lease: t.LeaseRef,
    result?: t.Content,
    call: t.CallOptions = {},
  ): Promise<t.ReportOutcome> {
    return this.#report(leaseCall('complete', lease, resultField(result)), call, lease);
  }

  async fail(
    lease: t.LeaseRef,
    failure: t.FailureOptions,
    call: t.CallOptions = {},
  ): Promise<t.ReportOutcome> {
    return this.#report(leaseCall('fail', lease, failParams(failure)), call, lease);
  }

  async kill(taskId: string, reason?: string, call: t.CallOptions = {}): Promise<t.ReportOutcome> {
    const params = toWire({ taskId, reason });
    return answers.report(await this.#one({ op: 'kill', params }, call), 'kill', false);
  }

  /** @throws RefusedError, for example `not_redrivable`. */
  async redrive(taskId: string, call: t.CallOptions = {}): Promise<t.Redriven> {
    return answers.redriven(await this.#one({ op: 'redrive', params: { task_id: taskId } }, call));
  }

  /** With `waitMs`, the answer comes when the task is terminal or after that many milliseconds. */
  async task(
    taskId: string,
    options: t.TaskReadOptions = {},
    call: t.CallOptions = {},
  ): Promise<t.TaskDetails> {
    assertOptions('task', options, READ);
    const request: Call = { op: 'task', params: toWire({ taskId, ...options }) };
    const { answers: got } = await this.#run([request], call, options.waitMs ?? 0);
    return answers.taskDetails((got[0] as Answer).body);
  }

  /** One page in ascending order; `next` is the `after` of the page that follows, or null. */
  async tasks(
    filter: answers.TaskFilter = {},
    call: t.CallOptions = {},
  ): Promise<answers.TaskPage> {
    assertOptions('tasks', filter, TASKS);
    return answers.taskPage(await this.#one({ op: 'tasks', params: toWire(filter) }, call));
  }

  /** The story of a task, as docs/PROTOCOL.md shows it (field names as on the wire). */
  async explain(taskId: string, call: t.CallOptions = {}): Promise<Record<string, unknown>> {
    return answers.plain(
      'explain',
      await this.#one({ op: 'explain', params: { task_id: taskId } }, call),
    );
  }

  /** Counts by state and queue (field names as on the wire). */
  async stats(call: t.CallOptions = {}): Promise<Record<string, unknown>> {
    return answers.plain('stats', await this.#one({ op: 'stats', params: {} }, call));
  }

  /** The effective knobs with their sources (field names as on the wire). */
  async config(call: t.CallOptions = {}): Promise<Record<string, unknown>> {
    return answers.plain('config', await this.#one({ op: 'config', params: {} }, call));
  }

  /**
   * Sends several requests in one message. The coordinator decides each one by itself. The answers
   * come in the order of the requests; a refused request has its refusal there as a value.
   */
  async batch(
    requests: readonly BatchRequest[],
    call: t.CallOptions = {},
  ): Promise<(BatchOutcome | t.Refused)[]> {
    if (requests.length === 0) return [];
    const calls = requests.map(batchCall);
    const send = (all: readonly Call[]): Promise<Exchange> => this.#run(all, call, 0, true);
    const traced = isTraced() ? traceBatch(calls, serverAttributes(this.#url), send) : send(calls);
    const exchange = await traced;
    return exchange.answers.map((answer, index) =>
      answers.ofBatch(calls[index] as Call, answer, exchange.resent),
    );
  }

  /** A queue with the schema of its payloads, for those who submit to it. */
  queue<Payload = unknown>(name: string, options: QueueOptions<Payload> = {}): Queue<Payload> {
    assertOptions('queue', options, QUEUE);
    return new Queue(this, name, options);
  }

  /** Closes the connections. Requests that have no answer yet reject with CLOSED. */
  close(): void {
    this.#exchanger.close();
  }

  #run(
    calls: readonly Call[],
    call: t.CallOptions,
    waitMs = 0,
    isBatch = false,
  ): Promise<Exchange> {
    assertOptions(isBatch ? 'batch' : (calls[0]?.op ?? ''), call, CALL);
    return this.#exchanger.run(calls, call, waitMs, isBatch);
  }

  async #one(request: Call, call: t.CallOptions): Promise<Answer['body']> {
    const { answers: got } = await this.#run([request], call);
    return (got[0] as Answer).body;
  }

  async #report(request: Call, call: t.CallOptions, lease: t.LeaseRef): Promise<t.ReportOutcome> {
    const send = async (): Promise<t.ReportOutcome> => {
      const { answers: got, resent } = await this.#run([request], call);
      return answers.report((got[0] as Answer).body, request.op, resent);
    };
    return isTraced() ? traceReport(request, lease, serverAttributes(this.#url), send) : send();
  }
}
