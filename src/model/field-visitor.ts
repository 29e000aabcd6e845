// Owns what can be done with the fields of a record, one after the other: written, read, shown or
// listed. Each method is called with a field's name and value and returns its value.

/** What is done with each field. A value is undefined while a record is being read. */
export interface Fields {
  readonly seq: number;
  readonly at: number;
  readonly prev: number;
  /** Whether the optional field that follows is there. @param bit says so in the stored flags */
  has(bit: number, isThere: boolean): boolean;
  /** As `has`, of a field that is stored only when it is unusual, and shown whatever it is. */
  isStored(bit: number, isUnusual: boolean): boolean;
  /** The record's own number, which is its key and not stored again, as other programs know it. */
  own(name: string, prefix: 'T' | 'L' | ''): void;
  /** A whole number from 0. */
  count(name: string, value: number | undefined): number;
  /** A number that may have a fraction. */
  factor(name: string, value: number | undefined): number;
  /** Milliseconds since the epoch. */
  time(name: string, value: number | undefined): number;
  /** The number of an earlier record: that of a task, of a lease, or of neither. */
  earlier(name: string, prefix: 'T' | 'L' | '', value: number | undefined): number;
  text(name: string, value: string | undefined): string;
  /** Stored as the index in the list, so a list only ever grows at its end. */
  choice<T extends string>(name: string, choices: readonly T[], value: T | undefined): T;
  /** A payload or a result: any bytes, which nobody looks into or changes. */
  content(name: string, value: Uint8Array | undefined): Uint8Array;
  hash(name: string, value: Uint8Array | undefined): Uint8Array;
  texts(name: string, value: Texts | undefined): Texts;
  /** The format version, which decides whether the rest can be understood. */
  version(name: string, value: number | undefined): number;
}
export type Texts = Readonly<Record<string, string>>;
