// Owns the cheapest client of Redis that can be written: commands out as they are, answers back in
// their order. It does no more for Redis than socket-link.ts does for leasehold, so that the two
// are compared with clients of the same cost.

import { once } from 'node:events';
import { connect } from 'node:net';

/** A command as the bytes that Redis reads; of ASCII characters only. */
export const command = (...words) =>
  `*${words.length}\r\n${words.map((word) => `$${`${word}`.length}\r\n${word}\r\n`).join('')}`;

/** Thrown inside this file when an answer has not arrived as a whole. */
const PARTIAL = Symbol('partial');

export class RespLink {
  #socket;
  #waiting = [];
  /** The next of `#waiting` to be answered. */
  #head = 0;
  #text = '';
  #at = 0;
  #out = '';

  constructor(socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.setEncoding('latin1');
    socket.on('data', (chunk) => this.#take(chunk));
    socket.on('close', () => {
      for (const { reject } of this.#waiting.slice(this.#head)) {
        reject(new Error('Redis: closed before the answer'));
      }
    });
  }

  static async to(port) {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return new RespLink(socket);
  }

  /** @param text of one command. @returns its answer: text, a number, null, or an array of such. */
  send(text) {
    if (this.#out === '') process.nextTick(() => this.#flush());
    this.#out += text;
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  close() {
    this.#waiting = [];
    this.#head = 0;
    this.#socket.destroy();
  }

  #flush() {
    this.#socket.write(this.#out, 'latin1');
    this.#out = '';
  }

  #take(chunk) {
    this.#text = this.#at === this.#text.length ? chunk : this.#text.slice(this.#at) + chunk;
    this.#at = 0;
    while (this.#at < this.#text.length) {
      const began = this.#at;
      let answer;
      try {
        answer = this.#answer();
      } catch (error) {
        if (error !== PARTIAL) throw error;
        this.#at = began;
        return;
      }
      const { resolve, reject } = this.#waiting[this.#head];
      this.#head += 1;
      if (this.#head === this.#waiting.length) {
        this.#waiting = [];
        this.#head = 0;
      }
      if (answer instanceof Error) reject(answer);
      else resolve(answer);
    }
  }

  #answer() {
    const kind = this.#text[this.#at];
    const line = this.#line();
    if (kind === '+') return line;
    if (kind === '-') return new Error(`Redis: ${line}`);
    if (kind === ':') return Number(line);
    const length = Number(line);
    if (length < 0) return null;
    if (kind === '$') {
      const from = this.#at;
      if (from + length + 2 > this.#text.length) throw PARTIAL;
      this.#at += length + 2;
      return this.#text.slice(from, from + length);
    }
    if (kind !== '*') throw new Error(`Redis: an answer that begins with ${kind}`);
    const items = [];
    for (let i = 0; i < length; i += 1) items.push(this.#answer());
    return items.find((item) => item instanceof Error) ?? items;
  }

  /** The rest of the line whose first character says its kind. */
  #line() {
    const end = this.#text.indexOf('\r\n', this.#at);
    if (end < 0) throw PARTIAL;
    const line = this.#text.slice(this.#at + 1, end);
    this.#at = end + 2;
    return line;
  }
}
