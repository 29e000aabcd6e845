// Owns the reason why a worker took no task although nothing went wrong, as far as its requests
// show the reason: the worker never came to the rehearsal, or it asked for the tasks of other
// queues.

import type { Traffic } from './traffic.ts';

/** @returns a sentence for the user; undefined when the reason is not known. */
export function whyNoTaskTaken(
  { exchanges, events }: Pick<Traffic, 'exchanges' | 'events'>,
  queue: string,
): string | undefined {
  if (exchanges.length === 0) {
    const end = events.find(({ what }) => what === 'ended');
    return end === undefined
      ? 'No request of the worker came to the rehearsal. The worker must take its server from ' +
          'LEASEHOLD_URL, LEASEHOLD_SOCKET_URL or LEASEHOLD_SOCKET_PORT.'
      : `The worker ended by itself (${end.how}) before it had sent a request.`;
  }
  const queues = new Set(exchanges.flatMap(({ queues: asked }) => asked));
  if (queues.has(queue)) return undefined;
  if (queues.size === 0) {
    return `The worker asked for no task: its first request was ${exchanges[0]?.said.trim()}.`;
  }
  const [one, ...more] = queues;
  const names = more.length === 0 ? `queue ${one}` : `the queues ${[...queues].join(', ')}`;
  return (
    `The worker asked for tasks of ${names}, and the tasks of the rehearsal are in queue ` +
    `${queue}. Name the queue of your worker with --queue.`
  );
}
