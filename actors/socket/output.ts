// Owns the answers that are owed to one connection: those gathered during a turn leave in one
// write. It tells how many bytes the peer has not taken yet; its user stops when there are too
// many.

import type { Socket } from 'node:net';
import { type AnswerBytes, inBytes } from '../../src/protocol/byte-text.ts';
import type { AnswerLines, BytesOut } from './open-call.ts';

const LINE_END = inBytes('\n');
/** A text of this length is written before the turn is over: no text can hold everything. */
const TEXT_MAX_BYTES = 1_048_576;

export class SocketOutput implements AnswerLines, BytesOut {
  readonly #socket: Socket;
  #gathered = '';
  #isScheduled = false;
  readonly #onTaken: () => void;

  /** `onTaken` is told when a write was taken whole at once: no `drain` follows it. */
  constructor(socket: Socket, onTaken: () => void) {
    this.#socket = socket;
    this.#onTaken = onTaken;
  }

  get #isOpen(): boolean {
    return !this.#socket.destroyed && !this.#socket.writableEnded;
  }

  /** Bytes that the peer has not taken, gathered ones included. */
  get owedBytes(): number {
    return this.#gathered.length + this.#socket.writableLength;
  }

  put(_index: number, answer: AnswerBytes): void {
    this.add(answer);
    this.add(LINE_END);
  }

  /** A buffer is looked at until the peer has taken it. */
  add(bytes: AnswerBytes): void {
    if (typeof bytes !== 'string') {
      this.flush();
      if (this.#isOpen && this.#socket.write(bytes)) this.#onTaken();
      return;
    }
    this.#gathered += bytes;
    if (this.#gathered.length >= TEXT_MAX_BYTES) return this.flush();
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    process.nextTick(() => this.flush());
  }

  flush(): void {
    this.#isScheduled = false;
    const bytes = this.#gathered;
    this.#gathered = '';
    if (bytes === '' || !this.#isOpen) return;
    if (this.#socket.write(bytes, 'latin1')) this.#onTaken();
  }
}
