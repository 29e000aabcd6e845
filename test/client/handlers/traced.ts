// A handler in a thread that traces: tells in which span it runs.

import { trace } from '@opentelemetry/api';
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node';

new NodeTracerProvider().register();

export default async function traced(): Promise<unknown> {
  return trace.getActiveSpan()?.spanContext();
}
