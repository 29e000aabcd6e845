// Owns what `work` says of a server that does not answer: a line when that begins and a line when
// it is over, and nothing meanwhile, which may be a night.

import { Outage, tryingAgain } from '../client/outage.ts';
import { TransportFailure } from '../client/transport.ts';
import type { ProtocolEvent } from '../client/types.ts';
import type { WorkerVoice } from '../client/worker-voice.ts';
import { say } from './command.ts';
import { troubleText } from './trouble.ts';

export function tellTrouble(worker: WorkerVoice, url: string, stderr: NodeJS.WritableStream): void {
  const outage = new Outage();
  const answered = (event: ProtocolEvent): void => {
    if (!outage.isOver(event)) return;
    worker.off('protocol', answered);
    say(stderr, `leasehold: ${url}: it answers again`);
  };
  worker.on('error', (error) => {
    const sign = outage.take(error);
    if (sign === 'lasts') return;
    const { cause, message } = error;
    if (sign === 'other') return say(stderr, `leasehold: ${message}`);
    const why = cause instanceof TransportFailure ? troubleText(cause) : message;
    say(stderr, `leasehold: ${url}: ${tryingAgain(why)}`);
    worker.on('protocol', answered);
  });
}
