// Owns one handler call inside a pool thread: loads the user's module, gives the handler its
// context, and turns the returned or thrown value into plain data. This thread sends nothing to
// the coordinator; the worker's thread does that.

import type { MessagePort } from 'node:worker_threads';
import { withinSpan } from './attempt-span.ts';
import { TaskAborted } from './errors.ts';
import type { Handler, HandlerContext } from './handler.ts';
import { resultBytes, whyNoHandler } from './handler-host.ts';
import type { FromHandler, HandlerResult, HandlerTask, ToHandler } from './handler-messages.ts';
import { Lease, type LeaseData } from './lease.ts';
import { codeOf, isPermanentFailure, reasonOf } from './reason.ts';

export default async function handle(work: HandlerTask): Promise<HandlerResult> {
  const handler = await load(work.moduleUrl);
  if (typeof handler !== 'function') return { kind: 'unusable', message: handler };
  if (work.attempt === undefined) return { kind: 'returned' };
  const { lease, port, traceparent } = work.attempt;
  try {
    const context = contextFor(lease, port);
    const result = await withinSpan(traceparent, () => handler(new Lease(lease), context));
    return { kind: 'returned', bytes: resultBytes(result) };
  } catch (error) {
    const isPermanent = isPermanentFailure(error);
    const isWrongMachine = codeOf(error) === 'WRONG_MACHINE';
    return { kind: 'threw', message: reasonOf(error), isPermanent, isWrongMachine };
  } finally {
    port.close();
  }
}

/** @returns the handler, or why there is none. */
async function load(moduleUrl: string): Promise<Handler | string> {
  try {
    const { default: handler } = (await import(moduleUrl)) as { default?: unknown };
    if (handler === undefined) return 'it has no default export';
    const not = whyNoHandler(handler);
    return not === undefined ? (handler as Handler) : `its default export: ${not}`;
  } catch (error) {
    return `it cannot be loaded: ${reasonOf(error)}`;
  }
}

function contextFor(lease: LeaseData, port: MessagePort): HandlerContext {
  const controller = new AbortController();
  const asked = new Map<number, (isHeld: boolean) => void>();
  port.on('message', (message: ToHandler) => {
    if (message.kind === 'beaten') {
      asked.get(message.ask)?.(message.isHeld);
      asked.delete(message.ask);
    } else controller.abort(new TaskAborted(message.code, message.reason));
  });
  let asks = 0;
  const stillMine = (): Promise<boolean> =>
    new Promise((resolve) => {
      asks += 1;
      asked.set(asks, resolve);
      port.postMessage({ kind: 'beat', ask: asks } satisfies FromHandler);
    });
  return {
    signal: controller.signal,
    fencingToken: lease.fencingToken,
    attempt: lease.attempt,
    previous: lease.previous,
    executionDeadline: lease.executionDeadline,
    stillMine,
    heartbeat: stillMine,
  };
}
