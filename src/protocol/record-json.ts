// Owns the JSON of a record as /v1/log and its followers show it, on one line: its fields under
// the names in the description of its type. A field that the record does not have is absent, never
// null.

import type { Fields, Texts } from '../model/field-visitor.ts';
import { visitFields } from '../model/record-fields.ts';
import type { LogRecord } from '../model/records.ts';
import { bytesMember } from './payload-bytes.ts';

/** Shown behind the others of the same object, as payload and result are. */
const LAST = new Set(['backoff_max_ms', 'extensions', 'last_extension']);

/** @returns one JSON object without a line feed. */
export function formatRecord(record: LogRecord): string {
  const { seq, type, at, prev } = record;
  const shown = new ShownFields(record);
  visitFields(shown, record);
  return `{"seq":${seq},"type":"${type}","at":${at},"prev":${prev}${shown.members()}}`;
}

/** Texts are joined as they come: an object in between would cost more than the text. */
class ShownFields implements Fields {
  readonly seq: number;
  readonly at: number;
  readonly prev: number;
  private first = '';
  private last = '';
  /** The one member that is an object: where it begins among the others, and its own members. */
  private outer = '';
  private inner = '';
  private innerLast = '';

  constructor({ seq, at, prev }: LogRecord) {
    this.seq = seq;
    this.at = at;
    this.prev = prev;
  }

  /** @returns all members as JSON, each behind a comma. */
  members(): string {
    const { outer, inner, innerLast, first, last } = this;
    const object = outer === '' ? '' : `${outer}${inner}${innerLast}}`;
    return `${object}${first}${last}`;
  }

  has(_bit: number, isThere: boolean): boolean {
    return isThere;
  }

  isStored(): boolean {
    return true;
  }

  own(name: string, prefix: string): void {
    this.earlier(name, prefix, this.seq);
  }

  count(name: string, value: number): number {
    return this.show(name, value, String(value));
  }

  version(name: string, value: number): number {
    return this.show(name, value, String(value));
  }

  factor(name: string, value: number): number {
    return this.show(name, value, String(value));
  }

  time(name: string, value: number): number {
    return this.show(name, value, String(value));
  }

  earlier(name: string, prefix: string, value: number): number {
    return this.show(name, value, prefix === '' ? String(value) : `"${prefix}${value}"`);
  }

  text(name: string, value: string): string {
    return this.show(name, value, JSON.stringify(value));
  }

  choice<T extends string>(name: string, _choices: readonly T[], value: T | undefined): T {
    return this.show(name, value as T, `"${value}"`);
  }

  content(name: string, value: Uint8Array): Uint8Array {
    this.last += `,${bytesMember(name, value, false)}`;
    return value;
  }

  hash(name: string, value: Uint8Array): Uint8Array {
    return this.show(name, value, `"${Buffer.from(value).toString('hex')}"`);
  }

  texts(name: string, value: Texts): Texts {
    return this.show(name, value, JSON.stringify(value));
  }

  private show<T>(name: string, value: T, json: string): T {
    const dot = name.indexOf('.');
    if (dot !== -1) {
      this.showInner(name.slice(0, dot), name.slice(dot + 1), json);
    } else if (LAST.has(name)) {
      this.last += `,"${name}":${json}`;
    } else {
      this.first += `,"${name}":${json}`;
    }
    return value;
  }

  private showInner(object: string, name: string, json: string): void {
    if (this.outer === '') {
      this.outer = `${this.first},"${object}":{`;
      this.first = '';
      this.inner = `"${name}":${json}`;
    } else if (LAST.has(name)) {
      this.innerLast += `,"${name}":${json}`;
    } else {
      this.inner += `,"${name}":${json}`;
    }
  }
}
