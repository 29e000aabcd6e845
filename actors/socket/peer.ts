// Owns one connection of the socket: lines in, answers out, everything in between bounded. No line
// is read from a peer that does not read its answers. When a peer is gone, its waiting requests
// are withdrawn.

import type { Socket } from 'node:net';
import { type AnswerBytes, inBytes } from '../../src/protocol/byte-text.ts';
import { LineReader, NEWLINE } from '../../src/protocol/framing.ts';
import { type RpcCall, type RpcItem, readLine, tooLongAnswer } from '../../src/protocol/jsonrpc.ts';
import { isRequestLine, opensJson, wrongPortAnswer } from '../../src/protocol/wrong-port.ts';
import { BatchBytes } from '../ingress/batch-bytes.ts';
import { BatchWeight } from '../ingress/batch-weight.ts';
import { monotonicMs } from '../shared/clock.ts';
import {
  Admission,
  answerCall,
  askInTurn,
  type SocketBackend,
  tooHeavy,
  weightOf,
} from './methods.ts';
import { type AnswerLines, BatchLine, OpenCall, type Settling } from './open-call.ts';
import { SocketOutput } from './output.ts';

/** Open calls of one connection, weighed by what their answers may come to. */
const WEIGHT_MAX = 1_024;
/** Nobody makes us hold more who has yet to give the token. */
const STRANGERS_LINE_MAX_BYTES = 65_536;
/** Answers that the peer has not taken: no further line is read beyond this. */
const OWED_MAX_BYTES = 1_048_576;
/** How long a peer that is turned away may take to read why. */
const TURNED_AWAY_MS = 1_000;

export class SocketPeer implements Settling {
  readonly #socket: Socket;
  readonly #backend: SocketBackend;
  readonly #output: SocketOutput;
  readonly #reader: LineReader;
  readonly #admission: Admission;
  readonly #open = new Set<OpenCall>();
  #weight = 0;
  /** Bytes that came but were not looked at, because enough is open or owed. */
  #unread: Buffer | undefined;
  /** Until a line that is not blank has been looked at. */
  #isFirstLine = true;
  #opensJson = true;
  #hasEnded = false;
  #isFinishing = false;
  #isResuming = false;
  /** Monotonic: since when part of a line is there and we are reading. */
  #halfLineSinceMs: number | undefined;

  constructor(socket: Socket, backend: SocketBackend, onClose: (peer: SocketPeer) => void) {
    this.#socket = socket;
    this.#backend = backend;
    this.#output = new SocketOutput(socket, () => this.#goOn());
    this.#admission = new Admission(backend);
    this.#reader = new LineReader(
      (first) => {
        this.#opensJson = opensJson(first);
        const most = first === 0x5b ? backend.batchMaxBytes : backend.lineMaxBytes;
        return this.#admission.isOpen ? most : Math.min(most, STRANGERS_LINE_MAX_BYTES);
      },
      (limitBytes) => this.#tooLong(limitBytes),
    );
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    socket.on('drain', () => this.#resume());
    socket.on('end', () => this.#halfClosed());
    // What was wrong does not matter: 'close' follows, and nobody is left to be told.
    socket.on('error', () => {});
    socket.on('close', () => {
      for (const open of this.#open) {
        if (open.ticket !== 0) backend.withdraw(open.ticket);
        open.hasten();
      }
      this.#open.clear();
      onClose(this);
    });
  }

  /** Drops a peer that has been sending one line for too long. */
  checkIdle(nowMs: number, limitMs: number): void {
    if (this.#halfLineSinceMs === undefined) return;
    if (nowMs - this.#halfLineSinceMs > limitMs) this.#socket.destroy();
  }

  /** Reads no more; what is open is still answered, then the connection ends. */
  finish(): void {
    this.#unread = undefined;
    this.#reader.flush();
    // Further bytes are read and thrown away. The kernel resets a connection that is closed over
    // unread bytes, and the peer might lose answers that are on their way.
    this.#isFinishing = true;
    this.#socket.resume();
    this.#halfClosed();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    if (this.#isFinishing) return;
    const rest = this.#reader.push(chunk, (line) => this.#line(line));
    if (this.#isFinishing) return;
    this.#unread = rest;
    if (this.#isFull()) this.#socket.pause();
    const isMidLine = this.#reader.midLine && this.#unread === undefined;
    // A peer that is not read from cannot send the rest of its line.
    if (!isMidLine || this.#socket.isPaused()) this.#halfLineSinceMs = undefined;
    else if (chunk.includes(NEWLINE)) this.#halfLineSinceMs = monotonicMs();
    else this.#halfLineSinceMs ??= monotonicMs();
  }

  #isFull(): boolean {
    return this.#weight >= WEIGHT_MAX || this.#output.owedBytes >= OWED_MAX_BYTES;
  }

  /** Goes on where it stopped, once half of what was too much is done. */
  #resume(): void {
    if (this.#weight > WEIGHT_MAX / 2 || this.#output.owedBytes > OWED_MAX_BYTES / 2) return;
    const unread = this.#unread;
    if (unread !== undefined) {
      this.#unread = undefined;
      this.#take(unread);
    }
    if (this.#unread !== undefined || this.#isFull()) return;
    if (this.#hasEnded) this.#halfClosed();
    else if (this.#socket.isPaused()) {
      this.#socket.resume();
      if (this.#reader.midLine) this.#halfLineSinceMs = monotonicMs();
    }
  }

  /** @returns whether the next line may be looked at now. */
  #line(line: Buffer): boolean {
    if (this.#isFinishing) return false;
    if (this.#isFirstLine && isRequestLine(line)) {
      this.#turnAway(() => this.#socket.end(wrongPortAnswer(this.#backend.httpAddress())));
      return false;
    }
    const message = readLine(line);
    if (message.kind !== 'nothing') this.#isFirstLine = false;
    if (message.kind === 'one') {
      const { item } = message;
      if (item.kind === 'bad') this.#output.put(0, inBytes(item.answer));
      else this.#ask(item, this.#opened(item, line.length, this.#output));
    } else if (message.kind === 'batch') this.#batch(message.items, line.length);
    return !this.#isFull() && !this.#socket.destroyed;
  }

  /**
   * Throws the line away. A first line that is no JSON may be an HTTP request line: the rest would
   * then come from a web page, so the peer is turned away.
   */
  #tooLong(limitBytes: number): void {
    if (this.#isFinishing) return;
    this.#output.put(0, inBytes(tooLongAnswer(limitBytes)));
    if (this.#isFirstLine && !this.#opensJson) this.#turnAway(() => this.finish());
    this.#isFirstLine = false;
  }

  /**
   * Reads nothing more of this peer, and waits a moment for it to take the answer. A connection
   * that is closed over unread bytes is reset, and the answer would be lost with it.
   */
  #turnAway(answer: () => void): void {
    this.#isFinishing = true;
    answer();
    const timer = setTimeout(() => this.#socket.destroy(), TURNED_AWAY_MS);
    this.#socket.once('close', () => clearTimeout(timer));
  }

  #batch(items: readonly RpcItem[], lineBytes: number): void {
    const answers = new BatchLine(items.length, this.#output);
    const batchWeight = new BatchWeight();
    const batchBytes = new BatchBytes(this.#backend.answersMaxBytes);
    for (const [index, item] of items.entries()) {
      if (item.kind === 'bad') answers.put(index, inBytes(item.answer));
      else if (!batchWeight.takes(weightOf(item, 0))) answers.put(index, inBytes(tooHeavy(item)));
      else {
        const open = this.#opened(item, lineBytes / items.length, answers, index);
        askInTurn(batchBytes, item, open, this.#backend, () => this.#ask(item, open));
      }
    }
  }

  /** @internal An answer is there; one that comes after the end of the connection is dropped. */
  settle(call: OpenCall, answer: AnswerBytes): void {
    if (!this.#open.delete(call)) return;
    this.#weight -= call.weight;
    call.lines.put(call.index, answer);
    call.onSettled?.(answer.length);
    this.#goOn();
  }

  #opened(call: RpcCall, lineBytes: number, lines: AnswerLines, index = 0): OpenCall {
    const weight = weightOf(call, lineBytes);
    const open = new OpenCall(this, call.id, weight, lines, index);
    this.#weight += weight;
    this.#open.add(open);
    return open;
  }

  #ask(call: RpcCall, open: OpenCall): void {
    const inBatch = open.lines !== this.#output;
    open.ticket = answerCall(call, inBatch, this.#admission, this.#backend, open);
    if (this.#hasEnded) this.#hasten(open);
  }

  #hasten(open: OpenCall): void {
    if (open.ticket !== 0) this.#backend.hasten(open.ticket);
    open.hasten();
  }

  /** Looks whether it stopped, after this turn's other answers: one look for all of them. */
  #goOn(): void {
    const hasStopped = this.#unread !== undefined || this.#hasEnded || this.#socket.isPaused();
    if (this.#isResuming || !hasStopped) return;
    this.#isResuming = true;
    setImmediate(() => {
      this.#isResuming = false;
      this.#resume();
    });
  }

  /** The peer sends no more: nothing of it stays parked, what is open is answered, then the end. */
  #halfClosed(): void {
    if (this.#socket.destroyed) return;
    if (!this.#hasEnded) {
      this.#hasEnded = true;
      this.#halfLineSinceMs = undefined;
      for (const open of this.#open) this.#hasten(open);
    }
    if (this.#unread !== undefined) return;
    const rest = this.#reader.flush();
    if (rest !== undefined) this.#line(rest);
    if (this.#open.size > 0) return;
    this.#output.flush();
    this.#socket.end();
  }
}
