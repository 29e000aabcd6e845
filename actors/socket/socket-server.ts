// Owns the socket's listeners and its connections: TCP, and a Unix socket where one is wanted. The
// talk on a connection is in peer.ts. Where its requests go is decided by the backend that is
// handed in.

import { chmod, lstat, unlink } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { makeDirectory } from '../../src/make-directory.ts';
import { monotonicMs } from '../shared/clock.ts';
import type { SocketBackend } from './methods.ts';
import { SocketPeer } from './peer.ts';

export interface SocketAddress {
  readonly host: string;
  readonly port: number;
  readonly path?: string | undefined;
}

/** Each may owe and be owed about a megabyte. */
const CONNECTIONS_MAX = 4_096;
/** A line must be there whole within this time of its first byte. */
export const HALF_LINE_LIMIT_MS = 30_000;
const SWEEP_MS = 5_000;
/** How long ending connections may take to take what they are owed. */
const FAREWELL_MS = 1_000;

export class SocketServer {
  readonly #backend: SocketBackend;
  readonly #peers = new Set<SocketPeer>();
  readonly #servers: Server[] = [];
  readonly #sweep: NodeJS.Timeout;
  #onEmpty: (() => void) | undefined;

  constructor(backend: SocketBackend, halfLineLimitMs = HALF_LINE_LIMIT_MS) {
    this.#backend = backend;
    const everyMs = Math.min(SWEEP_MS, halfLineLimitMs / 2);
    this.#sweep = setInterval(() => {
      const nowMs = monotonicMs();
      for (const peer of this.#peers) peer.checkIdle(nowMs, halfLineLimitMs);
    }, everyMs);
    this.#sweep.unref();
  }

  get connections(): number {
    return this.#peers.size;
  }

  /** @returns the TCP address that is bound, host:port. @throws what listen says, with its code. */
  async listen({ host, port, path }: SocketAddress): Promise<string> {
    const tcp = this.#server();
    await listening(tcp, { host, port });
    if (path !== undefined) await this.#listenAt(path);
    const { address, port: bound } = tcp.address() as { address: string; port: number };
    return address.includes(':') ? `[${address}]:${bound}` : `${address}:${bound}`;
  }

  /** No new connections; those that are there go on. */
  stopListening(): void {
    for (const server of this.#servers) server.close();
  }

  /** Writes out what is owed and closes; resolves when every connection is gone. */
  async close(): Promise<void> {
    this.stopListening();
    clearInterval(this.#sweep);
    for (const peer of this.#peers) peer.finish();
    if (this.#peers.size === 0) return;
    const timer = setTimeout(() => {
      for (const peer of this.#peers) peer.destroy();
    }, FAREWELL_MS);
    await new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
    });
    clearTimeout(timer);
  }

  #server(): Server {
    const server = createServer({ allowHalfOpen: true }, (socket) => this.#accept(socket));
    server.maxConnections = CONNECTIONS_MAX;
    this.#servers.push(server);
    return server;
  }

  #accept(socket: Socket): void {
    const peer = new SocketPeer(socket, this.#backend, () => {
      this.#peers.delete(peer);
      if (this.#peers.size === 0) this.#onEmpty?.();
    });
    this.#peers.add(peer);
  }

  /** Only this user may connect: the file is 0600, and a directory that we make is 0700. */
  async #listenAt(path: string): Promise<void> {
    makeDirectory(dirname(path), 0o700);
    const server = this.#server();
    try {
      await listening(server, { path });
    } catch (error) {
      const isInUse = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
      if (!isInUse || (await isAnswered(path))) throw error;
      // A killed server leaves its socket file behind, and nobody listens on it: that file may go.
      // A file of any other kind belongs to somebody and stays.
      if (!(await lstat(path)).isSocket()) throw notASocket(path);
      await unlink(path);
      await listening(server, { path });
    }
    await chmod(path, 0o600);
  }
}

const notASocket = (path: string): Error & { code: string } =>
  Object.assign(new Error(`${path} exists and is no socket`), { code: 'EADDRINUSE' });

function listening(server: Server, where: { host?: string; port?: number; path?: string }) {
  return new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(where, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(path);
    probe.once('connect', () => {
      probe.destroy();
      resolve(true);
    });
    probe.once('error', () => resolve(false));
  });
}
