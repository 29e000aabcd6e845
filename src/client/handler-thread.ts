// Owns one handler call inside a pool thread: loads the user's module, gives it its context, and
// turns what it returns or throws into plain data. It knows no coordinator: the worker's thread
// does the talking.

import { encodeContent } from '../protocol/client-wire.ts';
import { PermanentFailure, TaskAborted } from './errors.ts';
import type { Handler, HandlerContext } from './handler.ts';
import type { FromHandler, HandlerResult, HandlerTask, ToHandler } from './handler-messages.ts';
import { Lease } from './lease.ts';

export default async function handle(work: HandlerTask): Promise<HandlerResult> {
  const { port, lease } = work;
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
  const context: HandlerContext = {
    signal: controller.signal,
    fencingToken: lease.fencingToken,
    attempt: lease.attempt,
    previous: lease.previous,
    executionDeadline: lease.executionDeadline,
    stillMine,
    heartbeat: stillMine,
  };
  try {
    const { default: handler } = (await import(work.moduleUrl)) as { default?: Handler };
    if (typeof handler !== 'function') {
      throw new PermanentFailure(`${work.moduleUrl} has no default export that is a function`);
    }
    const result = await handler(new Lease(lease), context);
    return { kind: 'returned', bytes: result === undefined ? undefined : encodeContent(result) };
  } catch (error) {
    // By name: the module may have got its PermanentFailure from another copy of this package.
    const isPermanent = error instanceof Error && error.name === 'PermanentFailure';
    return { kind: 'threw', message: reasonOf(error), isPermanent };
  } finally {
    port.close();
  }
}

const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message || error.name : String(error);
