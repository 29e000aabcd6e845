// Owns the way to the API of OpenTelemetry, which a program may have or not. The package is loaded
// once, and only in a program that has registered a tracer provider. In every other program a
// request costs one look at a property of the global object.

import type * as api from '@opentelemetry/api';

export type Api = typeof api;

/** Under this key every copy of the API, of any version 1, finds what the program registered. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1');
const NAME = 'leasehold';

let loaded: Api | undefined;
let loading: Promise<Api | undefined> | undefined;

/** Whether the program has registered a tracer provider by now. */
export function isTraced(): boolean {
  const registered = (globalThis as Record<symbol, unknown>)[REGISTERED];
  return (registered as { trace?: unknown } | undefined)?.trace !== undefined;
}

/** @returns undefined when nothing is traced, or the package cannot be found from here. */
export async function openTelemetry(): Promise<Api | undefined> {
  if (!isTraced()) return undefined;
  loading ??= import('@opentelemetry/api').catch(() => undefined);
  loaded = await loading;
  return loaded;
}

/** The same for those who cannot wait: undefined as long as nobody has loaded it. */
export const loadedOpenTelemetry = (): Api | undefined => (isTraced() ? loaded : undefined);

export const tracerOf = (api: Api): api.Tracer => api.trace.getTracer(NAME);

/** Calls `act` as if nothing were traced around it: what it starts later belongs to no span. */
export async function outsideSpans<Result>(act: () => Promise<Result>): Promise<Result> {
  const api = await openTelemetry();
  return api === undefined ? act() : api.context.with(api.ROOT_CONTEXT, act);
}
