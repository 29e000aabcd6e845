// Owns how the context of a span travels with a task: as text in the form of the W3C, in
// `metadata.traceparent`. What the user put there is never changed.

import type { Link, SpanContext } from '@opentelemetry/api';
import { METADATA_MAX_BYTES } from '../model/limits.ts';
import type { Api } from './open-telemetry.ts';

type Metadata = Readonly<Record<string, string>>;

const KEY = 'traceparent';
const STATE = 'tracestate';
/** Version 00 has four fields; a later one may have more, and ff is no version. */
const SHAPE = /^(?!ff|00.{54})[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/;
const NO_TRACE = '0'.repeat(32);
const NO_SPAN = '0'.repeat(16);

export function traceparentOf({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

/** @returns undefined when the text is not in the form of the W3C, version 00 or later. */
export function readTraceparent(text: string | undefined): SpanContext | undefined {
  const [, traceId = NO_TRACE, spanId = NO_SPAN, flags = ''] = SHAPE.exec(text ?? '') ?? [];
  if (traceId === NO_TRACE || spanId === NO_SPAN) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
}

/** The span in which a task was created, by the task's metadata. */
export function creationOf(api: Api, metadata: Metadata | undefined): SpanContext | undefined {
  const context = readTraceparent(metadata?.[KEY]);
  const state = metadata?.[STATE];
  if (context === undefined || state === undefined) return context;
  return { ...context, traceState: api.createTraceState(state) };
}

export function linksTo(...contexts: readonly (SpanContext | undefined)[]): Link[] {
  return contexts.flatMap((context) => (context === undefined ? [] : [{ context }]));
}

/**
 * Adds the context to metadata that has none, where there is room for it. A task without a context
 * is better than a submit that is refused for its size.
 */
export function withContext(metadata: Metadata | undefined, context: SpanContext): Metadata {
  const given = metadata ?? {};
  if (Object.hasOwn(given, KEY) || context.traceId === NO_TRACE) return given;
  const state = context.traceState?.serialize() ?? '';
  const added = { ...given, [KEY]: traceparentOf(context) };
  if (bytesOf(added) > METADATA_MAX_BYTES) return given;
  if (state === '' || Object.hasOwn(given, STATE)) return added;
  const both = { ...added, [STATE]: state };
  return bytesOf(both) > METADATA_MAX_BYTES ? added : both;
}

function bytesOf(metadata: Metadata): number {
  return Buffer.byteLength(Object.entries(metadata).flat().join(''));
}
