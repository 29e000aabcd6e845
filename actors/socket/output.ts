// Owns the answers that are owed to one connection: those gathered during a turn leave in one
// write. It tells how many bytes the peer has not taken yet; its user stops when there are too
// many.

import type { Socket } from 'node:net';
import type { ByteText } from '../../src/protocol/byte-text.ts';
import type { AnswerLines } from './open-call.ts';

export class SocketOutput implements AnswerLines {
  readonly #socket: Socket;
  /** Lines of bytes, with their line feeds. */
  #gathered = '';
  #isScheduled = false;
  readonly #onTaken: () => void;

  /** `onTaken` is told when a write was taken whole at once: no `drain` follows it. */
  constructor(socket: Socket, onTaken: () => void) {
    this.#socket = socket;
    this.#onTaken = onTaken;
  }

  /** Bytes that the peer has not taken, gathered ones included. */
  get owedBytes(): number {
    return this.#gathered.length + this.#socket.writableLength;
  }

  put(_index: number, answer: ByteText): void {
    this.#gathered += `${answer}\n`;
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    process.nextTick(() => this.flush());
  }

  flush(): void {
    this.#isScheduled = false;
    const bytes = this.#gathered;
    this.#gathered = '';
    if (bytes === '' || this.#socket.destroyed || this.#socket.writableEnded) return;
    if (this.#socket.write(bytes, 'latin1')) this.#onTaken();
  }
}
