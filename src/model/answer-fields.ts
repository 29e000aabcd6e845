// Owns the parts that answers are made of: of each field its kind, by which its text is made and
// read back, and its description. The types of answers follow from them, for both sides.

import { type Camel, LeaseIdText, MetadataBody, QueueName, TaskIdText } from './request-fields.ts';
import {
  as,
  number as asNumber,
  boolean,
  integer,
  list as listOf,
  optional as mayMiss,
  type ObjectSchema,
  object as objectOf,
  type Schema,
  text,
} from './schema.ts';
import { TASK_STATES, type TaskStateName } from './task-states.ts';

/** How a value is written: as it stands, between quotation marks, or by its own rule. */
export type AnswerKind =
  | 'plain'
  | 'word'
  | 'json'
  | 'task'
  | 'lease'
  /** The task's id, or null. */
  | 'next'
  /** Always the same word, which the answer itself does not hold. */
  | 'constant'
  /** Written when it is true, and absent when it is false. */
  | 'sign'
  | 'bytes'
  | 'object'
  | 'list';

/** @typeParam V the value in the coordinator. @typeParam C what the client library shows. */
export interface AnswerField<V = unknown, C = unknown, Optional extends boolean = boolean> {
  readonly kind: AnswerKind;
  readonly schema: Schema;
  readonly isOptional: Optional;
  readonly fields?: AnswerFields;
  /** Where the answer has the value, if it is not its own member of that name. */
  readonly from?: string;
  /** Only for the types. */
  readonly value?: V;
  readonly shown?: C;
}
export type AnswerFields = Readonly<Record<string, AnswerField>>;

type Present<V, C = V> = AnswerField<V, C, false>;

const field = <V, C = V>(
  kind: AnswerKind,
  schema: Schema,
  more: { readonly fields?: AnswerFields; readonly from?: string } = {},
): Present<V, C> => ({ kind, schema, ...more, isOptional: false });

export const optional = <V, C>(given: Present<V, C>): AnswerField<V, C, true> => ({
  ...given,
  isOptional: true,
});
/** The answer has the value elsewhere: `expression` in the words of answer-text.ts. */
export const from = <V, C, O extends boolean>(
  expression: string,
  given: AnswerField<V, C, O>,
): AnswerField<never, C, O> => ({ ...(given as AnswerField<never, C, O>), from: expression });

export const count = (description: string) =>
  field<number>('plain', integer({ minimum: 0, description }));
export const number = (description?: string) =>
  field<number>('plain', integer(description === undefined ? {} : { description }));
export const time = (description: string) =>
  number(`${description} In ms since the epoch, by the coordinator's time.`);
export const flag = (description: string) => field<boolean>('plain', boolean({ description }));
export const sign = (description: string) => field<boolean>('sign', boolean({ description }));
export const word = <const T extends string>(words: readonly T[], description: string) =>
  field<T>('word', as({ type: 'string', enum: [...words], description }));
export const constant = <const T extends string>(value: T, description: string) =>
  field<never, T>('constant', as({ type: 'string', enum: [value], description }));
export const state = () => word<TaskStateName>(TASK_STATES, 'Where the task stands.');
export const queue = () => field<string>('word', QueueName);
export const words = (description?: string) =>
  field<string>('json', text(description === undefined ? {} : { description }));
export const taskId = () => field<number, string>('task', TaskIdText);
export const leaseId = () => field<number, string>('lease', LeaseIdText);
export const caused = () =>
  field<number | null>(
    'plain',
    as({
      type: ['integer', 'null'],
      description: 'The number of the record that the request caused; null: none.',
    }),
  );
const whereToGoOn = () =>
  as({
    type: ['string', 'null'],
    description: 'Give it as `after` to go on; null: the end was reached.',
  });
export const next = () => field<number | null, string | null>('next', whereToGoOn());
/** Of a list whose places are texts. */
export const cursor = () => field<string | null>('json', whereToGoOn());
export const rate = (description: string) =>
  field<number>('plain', asNumber({ minimum: 0, description }));
export const names = (description: string) =>
  field<readonly string[]>('json', listOf(text(), { description }));
export const metadata = () => field<Readonly<Record<string, string>>>('json', MetadataBody);
export const bytes = () => field<Uint8Array>('bytes', text());

export const object = <const F extends AnswerFields>(fields: F, description?: string) =>
  field<Values<F>, Shown<F>>('object', schemaOf(fields, description), { fields });
export const list = <const F extends AnswerFields>(fields: F) =>
  field<readonly Values<F>[], readonly Shown<F>[]>('list', listOf(schemaOf(fields)), { fields });

/** @returns what an answer of these fields is on the wire. */
export function schemaOf(fields: AnswerFields, description?: string): ObjectSchema {
  const members = Object.entries(fields).flatMap(([name, { kind, schema, isOptional }]) => {
    const mayBeAbsent = isOptional || kind === 'sign';
    if (kind !== 'bytes') return [[name, mayBeAbsent ? mayMiss(schema) : schema]];
    return [
      [name, mayMiss(text({ description: 'When the bytes are valid UTF-8.' }))],
      [`${name}_base64`, mayMiss(text({ description: 'When they are not, or on request.' }))],
    ];
  });
  const note = description === undefined ? {} : { description };
  return objectOf(Object.fromEntries(members), { additionalProperties: false, ...note });
}

type Flat<T> = { [K in keyof T]: T[K] };
type KeysOf<F, O extends boolean> = {
  [K in keyof F]: F[K] extends AnswerField<unknown, unknown, O> ? K : never;
}[keyof F];
type InCode<K> = K extends string ? Camel<K> : never;
type ValueOf<F> = F extends AnswerField<infer V> ? V : never;
type ShownOf<F> = F extends AnswerField<unknown, infer C> ? C : never;
type Held<F, K extends keyof F> = [ValueOf<F[K]>] extends [never] ? never : K;

/** The members that an answer has in the coordinator. */
export type Values<F extends AnswerFields> = Flat<
  {
    readonly [K in KeysOf<F, false> as InCode<Held<F, K>>]: ValueOf<F[K]>;
  } & {
    readonly [K in KeysOf<F, true> as InCode<Held<F, K>>]?: ValueOf<F[K]> | undefined;
  }
>;
/** The members that the client library shows. */
export type Shown<F extends AnswerFields> = Flat<
  {
    readonly [K in KeysOf<F, false> as InCode<K>]: ShownOf<F[K]>;
  } & {
    readonly [K in KeysOf<F, true> as InCode<K>]?: ShownOf<F[K]>;
  }
>;
