// Owns the few words in which our schemas are written: each makes a plain JSON Schema object and
// remembers the type of the values that it describes, so that one schema validates, gives the type
// and is what the OpenAPI document shows. It judges nothing; see protocol/validate-form.ts.

declare const described: unique symbol;

/** The keywords of JSON Schema that we use. */
export interface Keywords {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly enum?: readonly string[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

/** A JSON Schema for values of type T. */
export interface Schema<T = unknown> extends Keywords {
  readonly [described]?: T;
}
export interface ObjectSchema<T = unknown> extends Schema<T> {
  readonly properties: Readonly<Record<string, Schema>>;
}

/** The type of the values that a schema describes. */
export type Static<S> = S extends Schema<infer T> ? T : never;

/** A field that may be left out. */
interface OptionalField<T> {
  readonly optional: Schema<T>;
}
type Fields = Readonly<Record<string, Schema | OptionalField<unknown>>>;
type FieldsOf<F extends Fields> = {
  [K in keyof F as F[K] extends OptionalField<unknown> ? never : K]: Static<F[K]>;
} & {
  [K in keyof F as F[K] extends OptionalField<unknown> ? K : never]?: F[K] extends OptionalField<
    infer T
  >
    ? T
    : never;
};

const isOptional = (field: Schema | OptionalField<unknown>): field is OptionalField<unknown> =>
  'optional' in field;

export const optional = <T>(schema: Schema<T>): OptionalField<T> => ({ optional: schema });
export const text = (keywords: Keywords = {}): Schema<string> => ({ type: 'string', ...keywords });
export const integer = (keywords: Keywords = {}): Schema<number> => ({
  type: 'integer',
  ...keywords,
});
export const number = (keywords: Keywords = {}): Schema<number> => ({
  type: 'number',
  ...keywords,
});
export const boolean = (keywords: Keywords = {}): Schema<boolean> => ({
  type: 'boolean',
  ...keywords,
});
export const anything = (keywords: Keywords = {}): Schema => keywords;
export const list = <T>(items: Schema<T>, keywords: Keywords = {}): Schema<T[]> => ({
  type: 'array',
  items,
  ...keywords,
});

/** Any JSON Schema, with a type that the caller vouches for. */
export const as = <T>(schema: Keywords): Schema<T> => schema;

export function object<const F extends Fields>(
  fields: F,
  keywords: Keywords = {},
): ObjectSchema<FieldsOf<F>> {
  const entries = Object.entries(fields);
  const required = entries.filter(([, field]) => !isOptional(field)).map(([name]) => name);
  return {
    type: 'object',
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(
      entries.map(([name, field]) => [name, isOptional(field) ? field.optional : field]),
    ),
    ...keywords,
  };
}
