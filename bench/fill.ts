// Owns getting many tasks into a real server quickly: submits pipelined on a few connections.

import { expectIn, SocketLink } from './socket-link.ts';

const CONNECTIONS = 4;
const IN_FLIGHT = 512;

/** @returns when all of them are durable. */
export async function fill(
  port: number,
  tasks: number,
  params: (task: number) => string,
  onProgress: (done: number) => void = () => {},
): Promise<void> {
  let next = 0;
  let done = 0;
  const one = async (link: SocketLink): Promise<void> => {
    while (next < tasks) {
      next += 1;
      expectIn(await link.call('submit', params(next)), '"state":"WAITING"');
      done += 1;
      if (done % 10_000 === 0) onProgress(done);
    }
  };
  const links = await Promise.all(Array.from({ length: CONNECTIONS }, () => SocketLink.to(port)));
  await Promise.all(links.flatMap((link) => Array.from({ length: IN_FLIGHT }, () => one(link))));
  for (const link of links) link.close();
}
