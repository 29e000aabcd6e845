// Owns the form of each operation's fields as a JSON Schema, made from the table of operations.
// Requests are validated by this schema, and the OpenAPI document shows it.

import { byOperation } from '../model/operations.ts';
import type { Field, Fields, Group } from '../model/request-fields.ts';
import { type ObjectSchema, object, optional } from '../model/schema.ts';

export const isGroup = (field: Field): field is Group => field.kind === 'group';

function formOf(fields: Fields, description: string | undefined): ObjectSchema {
  const members = Object.entries(fields).flatMap(([name, field]) => {
    if (field.presence === 'made') return [];
    const schema = isGroup(field) ? formOf(field.fields, field.schema.description) : field.schema;
    // Which of two fields holds the bytes is free: that one is missing, their reading says.
    if (field.base64 !== undefined) {
      return [
        [name, optional(schema)],
        [`${name}_base64`, optional(field.base64)],
      ];
    }
    return [[name, field.presence === 'required' ? schema : optional(schema)]];
  });
  const note = description === undefined ? {} : { description };
  return object(Object.fromEntries(members), { additionalProperties: false, ...note });
}

/** By operation; the methods of the socket and the ops of a batch are the same words. */
export const FORMS = byOperation(({ fields, note }) => formOf(fields, note));
