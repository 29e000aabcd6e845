// Owns the list of members that the request of an operation has: their names in code and on the
// wire. The order is the same for every file that reads, carries or hashes them.

import { byOperation } from '../model/operations.ts';
import { camelOf, type Field, type Fields } from '../model/request-fields.ts';
import { isGroup } from './forms.ts';

export interface Member {
  readonly name: string;
  readonly wire: string;
  /** The object among the given fields that has it; undefined: it stands by itself. */
  readonly group: string | undefined;
  readonly field: Field;
}

const nameOf = (wire: string): string => (wire === 'encoding' ? 'base64' : camelOf(wire));

const membersOf = (fields: Fields, group?: string): Member[] =>
  Object.entries(fields).flatMap(([wire, field]) =>
    isGroup(field) ? membersOf(field.fields, wire) : [{ name: nameOf(wire), wire, group, field }],
  );

export const MEMBERS = byOperation(({ fields }) => membersOf(fields));
