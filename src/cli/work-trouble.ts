// Owns what `work` says of a server that does not answer: a line when that begins and a line when
// it is over, and nothing meanwhile, which may be a night.

import { TransportFailure } from '../client/transport.ts';
import type { ProtocolEvent } from '../client/types.ts';
import type { WorkerVoice } from '../client/worker-voice.ts';
import { say } from './command.ts';
import { troubleText } from './trouble.ts';

export function tellTrouble(worker: WorkerVoice, url: string, stderr: NodeJS.WritableStream): void {
  let isTold = false;
  const answered = (event: ProtocolEvent): void => {
    if (event.direction !== 'answer' || !decides(event.body)) return;
    worker.off('protocol', answered);
    isTold = false;
    say(stderr, `leasehold: ${url}: it answers again`);
  };
  worker.on('error', (error) => {
    // REFUSED is an answer that nothing can be decided now: any other refusal ends the worker.
    if (error.code !== 'UNREACHABLE' && error.code !== 'REFUSED') {
      say(stderr, `leasehold: ${error.message}`);
      return;
    }
    if (isTold) return;
    isTold = true;
    const { cause, message } = error;
    const why = cause instanceof TransportFailure ? troubleText(cause) : message;
    say(stderr, `leasehold: ${url}: ${why}; trying again`);
    worker.on('protocol', answered);
  });
}

function decides(body: unknown): boolean {
  const { error, outcome } = body as { readonly error?: unknown; readonly outcome?: unknown };
  return error === undefined && outcome !== 'UNAVAILABLE';
}
