// Owns the parts that requests are made of: of each field its form on the wire, and of which kind
// its value is. Whatever checks, reads, carries or describes a request goes by these.

import {
  CURSOR_MAX_BYTES,
  DURATION_MAX,
  ID_MAX_BYTES,
  QUEUE_PATTERN,
  REASON_MAX_BYTES,
} from './limits.ts';
import { as, integer, list, number, type Schema, text } from './schema.ts';

/** What a value of each kind is once it is read; protocol/ knows how it is read and carried. */
interface Values {
  /** A whole number. */
  number: number;
  fraction: number;
  /** A string of which the form says all. */
  name: string;
  /** A string that must be well-formed, and short enough in bytes. */
  text: string;
  word: string;
  /** The number in a task id, in a lease id. */
  task: number;
  lease: number;
  /** A task id, or a number out of an earlier answer. */
  place: number;
  /** A list; each name stands in it once. */
  names: readonly string[];
  /** The bytes of a string, or of the field with `_base64` behind its name. */
  bytes: Uint8Array;
  metadata: Readonly<Record<string, string>>;
  /** Whether it is given. */
  flag: boolean;
  /** An object whose fields the request has beside its own. */
  group: object;
  /** Looked at by whoever takes it. */
  anything: readonly unknown[];
}
export type Kind = keyof Values;

/** What a name of the wire is in code: `task_id` is `taskId`. */
export type Camel<S extends string> = S extends `${infer A}_${infer B}`
  ? `${A}${Capitalize<Camel<B>>}`
  : S;
export const camelOf = (wire: string): string =>
  wire.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Whether a field must be given, may be missing, has a value when it is missing, or is none of the
 * wire's: then the reading of the request makes it. */
type Presence = 'required' | 'optional' | 'filled' | 'made';

export interface Field<V = unknown, P extends Presence = Presence> {
  readonly kind: Kind;
  readonly schema: Schema;
  readonly presence: P;
  /** The value of a field that is missing. */
  readonly fallback?: V | undefined;
  /** Of a text. */
  readonly maxBytes?: number;
  /** Of a word: the choice. */
  readonly words?: readonly string[];
  /** Of bytes: the form of the field in base64. */
  readonly base64?: Schema;
  /** The letter of an option that counts in the hash of a submit's content: part of the log. */
  readonly letter?: string;
}
export type Fields = Readonly<Record<string, Field>>;
export interface Group<F extends Fields = Fields> extends Field<object, 'optional'> {
  readonly fields: F;
}

const field = <V>(
  kind: Kind,
  schema: Schema,
  more: Omit<Partial<Field<V>>, 'presence'> = {},
): Field<V, 'required'> => ({ kind, schema, ...more, presence: 'required' });

export const optional = <V>(given: Field<V>): Field<V, 'optional'> => ({
  ...given,
  presence: 'optional',
});
export const filled = <V>(given: Field<V>, fallback: V): Field<V, 'filled'> => ({
  ...given,
  presence: 'filled',
  fallback,
});
export const made = <V>(given: Field<V>): Field<V, 'made'> => ({ ...given, presence: 'made' });
export const counted = <V, P extends Presence>(
  letter: string,
  given: Field<V, P>,
): Field<V, P> => ({ ...given, letter });

export const whole = (minimum: number, maximum: number, description: string) =>
  field<number>('number', integer({ minimum, maximum, description }));
export const duration = (minimum: 0 | 1, description: string) =>
  whole(minimum, DURATION_MAX, `${description} In milliseconds.`);
export const fraction = (minimum: number, maximum: number, description: string) =>
  field<number>('fraction', number({ minimum, maximum, description }));
export const word = <const T extends string>(words: readonly T[], description: string) =>
  field<T>('word', as({ type: 'string', enum: [...words], description }), { words });
export const flag = (value: string, description: string) =>
  field<boolean>('flag', as({ type: 'string', enum: [value], description }));
export const name = (schema: Schema<string>) => field<string>('name', schema);
export const identifier = (description: string) =>
  field<string>('text', text({ minLength: 1, maxLength: ID_MAX_BYTES, description }), {
    maxBytes: ID_MAX_BYTES,
  });
/** Where a page of a list ended: an answer's `next`. */
export const cursor = (description: string) =>
  field<string>('text', text({ minLength: 1, maxLength: CURSOR_MAX_BYTES, description }), {
    maxBytes: CURSOR_MAX_BYTES,
  });
export const reason = () =>
  field<string>(
    'text',
    text({ maxLength: REASON_MAX_BYTES, description: 'A reason for people.' }),
    { maxBytes: REASON_MAX_BYTES },
  );
export const names = (schema: Schema<string>, maxItems: number, description: string) =>
  field<readonly string[]>('names', list(schema, { minItems: 1, maxItems, description }));
export const bytes = (description: string, inBase64: string) =>
  field<Uint8Array>('bytes', text({ description }), { base64: text({ description: inBase64 }) });
export const metadata = () => field<Values['metadata']>('metadata', MetadataBody);
export const anything = (schema: Schema) => field<readonly unknown[]>('anything', schema);
export const group = <const F extends Fields>(description: string, fields: F): Group<F> => ({
  ...field<object>('group', { description }),
  presence: 'optional',
  fields,
});

export const TaskIdText = text({
  pattern: '^T[1-9][0-9]{0,15}$',
  description: 'A task id, as submit answered it.',
});
export const LeaseIdText = text({
  pattern: '^L[1-9][0-9]{0,15}$',
  description: 'A lease id, as lease answered it.',
});
export const QueueName = text({
  pattern: QUEUE_PATTERN,
  description: 'The name of a queue: 1 to 128 characters of A-Z a-z 0-9 . _ : -',
});
// The keys are the user's own: `additionalProperties` reaches all of them, a pattern would not.
export const MetadataBody = as<Record<string, string>>({
  type: 'object',
  additionalProperties: { type: 'string' },
  description: 'Facts carried along: strings, 4 KiB of keys and values in all.',
});
export const taskId = () => field<number>('task', TaskIdText);
export const leaseId = () => field<number>('lease', LeaseIdText);
export const place = (description: string) =>
  field<number>(
    'place',
    as({
      anyOf: [TaskIdText, { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER }],
      description,
    }),
  );
