// Owns the list of the fields that a record can have. Its users have no record at hand: they ask
// which flags a type knows, or whether the documents name every field.

import type { Fields } from './field-visitor.ts';

export interface ListedField {
  /** As other programs know it; a dot stands between an object's name and its member's. */
  readonly name: string;
  /** Says in the flags whether it is there; 0: it always is. */
  readonly bit: number;
}

const NO_BYTES = new Uint8Array(0);

export class ListedFields implements Fields {
  readonly seq = 0;
  readonly at = 0;
  readonly prev = 0;
  readonly fields: ListedField[] = [];
  private bit = 0;

  has(bit: number): boolean {
    this.bit = bit;
    return true;
  }

  isStored(bit: number): boolean {
    return this.has(bit);
  }

  readonly own = (name: string): void => this.list(name, undefined);
  readonly count = (name: string): number => this.list(name, 0);
  readonly version = this.count;
  readonly factor = this.count;
  readonly time = this.count;
  readonly earlier = this.count;
  readonly text = (name: string): string => this.list(name, '');
  readonly texts = (name: string): Record<string, string> => this.list(name, {});
  readonly content = (name: string): Uint8Array => this.list(name, NO_BYTES);
  readonly hash = this.content;

  choice<T extends string>(name: string, choices: readonly T[]): T {
    return this.list(name, choices[0] as T);
  }

  private list<T>(name: string, value: T): T {
    this.fields.push({ name, bit: this.bit });
    this.bit = 0;
    return value;
  }
}
