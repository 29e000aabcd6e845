// Owns the decision to leave a server that does not answer although a request of ours is open
// there. The connection to a machine that is paused or lost stays open for minutes, and a long poll
// looks the same as a server that is gone. So as long as a request is open the server is asked who
// leads, and when it does not answer, another one may say that it leads by now.

import { after } from './local-clock.ts';
import type { Answer, Call, SendOptions } from './transport.ts';

interface AskedServer {
  readonly url: string;
  readonly transport: { send(call: Call, options: SendOptions): Promise<Answer> };
}

/** How long a request is open before its server is asked, and how often it is asked then. */
const LOOK_MS = 1_000;
const ANSWER_MS = 1_000;
const WHO_LEADS: Call = { op: 'cluster', params: {} };

export class LeaderLook<S extends AskedServer> {
  private readonly servers: readonly S[];
  private readonly current: () => S;
  private readonly left: (server: S, leader: string) => void;
  private open = 0;
  private takeBack = (): void => {};

  /** @param left told when the server is silent and the other one says that it leads */
  constructor(servers: readonly S[], current: () => S, left: (server: S, leader: string) => void) {
    this.servers = servers;
    this.current = current;
    this.left = left;
  }

  /** A request is open. @returns tells that it is not any more */
  begin(): () => void {
    if (this.servers.length < 2) return () => {};
    this.open += 1;
    if (this.open === 1) this.wait();
    return () => {
      this.open -= 1;
      if (this.open === 0) this.takeBack();
    };
  }

  private wait(): void {
    this.takeBack = after(LOOK_MS, () => void this.look());
  }

  private async look(): Promise<void> {
    const server = this.current();
    if ((await roleOf(server)) === undefined) {
      const others = this.servers.filter((other) => other !== server);
      const roles = await Promise.all(others.map(roleOf));
      const leader = others[roles.indexOf('leader')];
      if (leader !== undefined && this.open > 0) this.left(server, leader.url);
    }
    if (this.open > 0) this.wait();
  }
}

/** @returns undefined when nobody answers. */
async function roleOf({ transport }: AskedServer): Promise<unknown> {
  try {
    const { body } = await transport.send(WHO_LEADS, { timeoutMs: ANSWER_MS });
    return body['role'] ?? 'none';
  } catch {
    return undefined;
  }
}
