// Owns the socket ingress's thread: the actor that the supervisor starts, connects and stops. The
// talk on the connections is in peer.ts and the files that it uses.

import type { MessagePort } from 'node:worker_threads';
import type { MailboxEnd } from '../../src/mailbox/mailbox.ts';
import { SINGLE } from '../../src/model/cluster-view.ts';
import { bodyMaxBytes } from '../../src/model/limits.ts';
import { notLeader } from '../../src/model/refusal.ts';
import { formatRefusal } from '../../src/protocol/answer-text.ts';
import { ANSWERS_MAX_BYTES } from '../ingress/batch-bytes.ts';
import { Gate } from '../ingress/gate.ts';
import { ReaderLink } from '../ingress/reader-link.ts';
import type { SocketIngressData } from '../ingress/start-data.ts';
import type { ProducerControl, StartResult } from '../shared/control.ts';
import { serveControl } from '../shared/control-port.ts';
import { listenText } from '../shared/listen-text.ts';
import { Progress } from '../shared/progress.ts';
import type { SocketBackend } from './methods.ts';
import { SocketServer } from './socket-server.ts';

/** Requests without an answer at a time over all connections, parked ones included. */
const OPEN_MAX = 32_768;

/** The pool's task; resolves after stop. */
export default function socketIngress(data: SocketIngressData): Promise<void> {
  return new Promise((resolve) => {
    const { progress, config, listen, socketPath } = data;
    const shared = new Progress(progress);
    const gate = new Gate(shared, OPEN_MAX);
    const reader = new ReaderLink(gate, 'socket');
    let httpAddress: string | undefined;
    const backend = backendOf(config, gate, reader, shared, () => httpAddress);
    const server = new SocketServer(backend);
    const actor: ProducerControl = {
      connect: (end: MailboxEnd) => gate.connect(end),
      connectReader: (port: MessagePort) => reader.connect(port),
      async start(listening = []): Promise<StartResult> {
        httpAddress = listening.find((address) => address.startsWith('http'));
        try {
          const address = await server.listen({ ...listen, path: socketPath });
          return { ok: true, address };
        } catch (error) {
          const { code = 'LISTEN' } = error as NodeJS.ErrnoException;
          return { ok: false, code, message: listenText(error as Error, '--socket') };
        }
      },
      /** Connections that are there stay: what was asked on them is still answered. */
      quiesce() {
        gate.refuseNew();
        server.stopListening();
      },
      async stop() {
        gate.close();
        reader.close();
        await server.close();
        setImmediate(resolve);
      },
    };
    serveControl(data.control, actor);
  });
}

/** What a connection's methods reach: the coordinator over the gate, and the reader. */
export function backendOf(
  config: SocketIngressData['config'],
  gate: Gate,
  reader: ReaderLink,
  progress: Progress,
  httpAddress: SocketBackend['httpAddress'],
): SocketBackend {
  return {
    limits: config,
    lineMaxBytes: bodyMaxBytes(config.payloadMaxBytes),
    answersMaxBytes: ANSWERS_MAX_BYTES,
    batchMaxBytes: Math.max(config.batchMaxBytes, bodyMaxBytes(config.payloadMaxBytes)),
    token: config.token,
    httpAddress,
    configText: JSON.stringify(config.shownConfig),
    clusterText: () => JSON.stringify(progress.cluster.read() ?? SINGLE),
    ask: (request, asker) => gate.ask(request, asker),
    withdraw: (ticket) => gate.withdraw(ticket),
    hasten: (ticket) => gate.hasten(ticket),
    async explain({ taskId, format = 'json', columns, at }) {
      if (progress.phase === 'following') return elsewhere(progress);
      const answer = await reader.explain(taskId, format, columns, at);
      const { status, body } = answer;
      if (status !== 200 || format === 'json') return body as string | Buffer;
      return JSON.stringify({ text: String(body).replace(/\n$/, '') });
    },
    async log({ waitMs, ...fields }, hurry) {
      if (progress.phase === 'following') return elsewhere(progress);
      return (await reader.logPage(fields, waitMs, hurry)).body as string | Buffer;
    },
  };
}

/** A node that follows shows nothing of its log, which may lack what another node has answered. */
const elsewhere = ({ cluster }: Progress): string =>
  formatRefusal(notLeader(cluster.read()?.leader?.url));
