// Owns the answers that are owed to one connection: those gathered during a turn leave in one
// write. It tells how many bytes the peer has not taken yet; its user stops when there are too
// many.

import type { Socket } from 'node:net';

type Piece = string | Buffer;

export class SocketOutput {
  readonly #socket: Socket;
  #pieces: Piece[] = [];
  #bytes = 0;
  #isScheduled = false;
  readonly #onTaken: () => void;

  /** `onTaken` is told when a write was taken whole at once: no `drain` follows it. */
  constructor(socket: Socket, onTaken: () => void) {
    this.#socket = socket;
    this.#onTaken = onTaken;
  }

  /** Bytes that the peer has not taken, gathered ones included. */
  get owedBytes(): number {
    return this.#bytes + this.#socket.writableLength;
  }

  /** One line from its pieces. A buffer is looked at until the end of the turn. */
  line(...pieces: Piece[]): void {
    for (const piece of pieces) {
      this.#pieces.push(piece);
      this.#bytes += piece.length;
    }
    this.#pieces.push('\n');
    this.#bytes += 1;
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    process.nextTick(() => this.flush());
  }

  flush(): void {
    this.#isScheduled = false;
    if (this.#bytes === 0) return;
    const pieces = this.#pieces;
    this.#pieces = [];
    this.#bytes = 0;
    if (this.#socket.destroyed || this.#socket.writableEnded) return;
    let bytes = 0;
    for (const piece of pieces) bytes += Buffer.byteLength(piece);
    const joined = Buffer.allocUnsafe(bytes);
    let at = 0;
    for (const piece of pieces) {
      at += typeof piece === 'string' ? joined.write(piece, at) : piece.copy(joined, at);
    }
    if (this.#socket.write(joined)) this.#onTaken();
  }
}
