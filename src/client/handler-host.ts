// Owns where a handler is called: in this thread, or as a module in threads of its own. A handler
// that cannot be called is refused before the worker leases a single task for it.

import { AsyncLocalStorage } from 'node:async_hooks';
import { types } from 'node:util';
import { encodeContent } from './content.ts';
import { LeaseholdError, PermanentFailure } from './errors.ts';
import type { Handler, HandlerHost } from './handler.ts';
import { HandlerPool } from './handler-pool.ts';
import type { Lease } from './lease.ts';
import { readBySchema, type Schema } from './payload-schema.ts';
import { reasonOf } from './reason.ts';

/** The lease of the handler within which code runs, in this thread. */
export const handling = new AsyncLocalStorage<Lease>();

/** @throws LeaseholdError INVALID_OPTION */
export function hostFor(
  handler: Handler | URL,
  { concurrency, threads }: { readonly concurrency: number; readonly threads: number },
  schema: Schema | undefined,
): HandlerHost {
  if (handler instanceof URL) {
    if (schema !== undefined) {
      throw refused(
        'schema: a schema cannot go into other threads: the module has to call it itself',
      );
    }
    if (concurrency === 1) return new HandlerPool(handler, threads);
    throw refused('concurrency is for a handler that is a function; for a module, give threads');
  }
  const not = whyNoHandler(handler);
  if (not !== undefined) throw refused(`handler: ${not}`);
  if (threads === 1) return inlineHost(handler, schema);
  throw refused('threads are for a handler that is a module; for a function, give concurrency');
}

const refused = (why: string): LeaseholdError =>
  new LeaseholdError('INVALID_OPTION', `Worker: ${why}`);

/** @returns why it cannot do a task, or undefined: it is a function that can be called. */
export function whyNoHandler(handler: unknown): string | undefined {
  if (types.isGeneratorFunction(handler)) return 'it is a generator; give an async function';
  if (typeof handler === 'function') {
    const isClass = /^class\b/.test(Function.prototype.toString.call(handler));
    return isClass ? 'it is a class; give a function that makes use of it' : undefined;
  }
  if (typeof handler === 'string') {
    return `a module is given by its URL: new URL(${JSON.stringify(handler)}, import.meta.url)`;
  }
  const isObject = typeof handler === 'object' && handler !== null;
  if (isObject && 'default' in handler) return 'it is a module; give its default export';
  const given = isObject ? 'an object' : String(handler);
  return `it is a function, or the URL of a module, not ${given}`;
}

function inlineHost(handler: Handler, schema: Schema | undefined): HandlerHost {
  return {
    async prepare() {},
    async run(task, context) {
      if (schema !== undefined) await readBySchema(schema, task);
      return resultBytes(await handling.run(task, () => handler(task, context)));
    },
    async close() {},
  };
}

/** @throws PermanentFailure: another attempt would come to the same result. */
export function resultBytes(result: unknown): Buffer | undefined {
  if (result === undefined) return undefined;
  try {
    return encodeContent(result);
  } catch (cause) {
    throw new PermanentFailure(`the result cannot be stored: ${reasonOf(cause)}`, { cause });
  }
}
