// Owns the shapes of what is asked of the coordinator, after parsing: ids are numbers, bytes are
// bytes, every field is known and in range. They follow from the table of operations.

import type { COORDINATOR_OPERATIONS } from './coordinator-operations.ts';
import type { OPERATIONS, OperationName } from './operations.ts';
import type { Camel, Field, Fields, Group } from './request-fields.ts';

export { TASK_STATES, type TaskStateName } from './task-states.ts';

/** What a field is called in code. */
type NameOf<K> = K extends 'encoding' ? 'base64' : K extends string ? Camel<K> : never;
type ValueOf<F> = F extends Field<infer V> ? V : never;
type IsOptional<F> = F extends Field<unknown, 'optional' | 'made'> ? true : false;
type KeysOf<F, O extends boolean> = {
  [K in keyof F]: F[K] extends Group ? never : IsOptional<F[K]> extends O ? K : never;
}[keyof F];
type Own<F> = {
  readonly [K in KeysOf<F, false> as NameOf<K>]: ValueOf<F[K]>;
} & {
  readonly [K in KeysOf<F, true> as NameOf<K>]?: ValueOf<F[K]> | undefined;
};
type InGroups<F> = {
  [K in keyof F]: F[K] extends Group<infer G extends Fields> ? (given: Own<G>) => void : never;
}[keyof F] extends (given: infer G) => void
  ? G
  : unknown;
type Flat<T> = { [K in keyof T]: T[K] };

/** What an operation's fields are once they are read. */
export type RequestOf<O extends OperationName> = O extends OperationName
  ? Flat<
      { readonly op: O } & Own<(typeof OPERATIONS)[O]['fields']> &
        InGroups<(typeof OPERATIONS)[O]['fields']>
    >
  : never;

type OptionOf<F> = F extends Group<infer G> ? OptionsIn<G> : ValueOf<F>;
type OptionKeys<F, P> = {
  [K in keyof F]: K extends 'encoding'
    ? never
    : F[K] extends Field<unknown, infer Q>
      ? Q extends P
        ? K
        : never
      : never;
}[keyof F];
type OptionsIn<F> = Flat<
  {
    readonly [K in OptionKeys<F, 'required'> as NameOf<K>]: OptionOf<F[K]>;
  } & {
    readonly [K in OptionKeys<F, 'optional' | 'filled'> as NameOf<K>]?: OptionOf<F[K]>;
  }
>;
/** What the client library takes for an operation's fields: ids and bytes as their types say. */
export type OptionsOf<O extends OperationName> = OptionsIn<(typeof OPERATIONS)[O]['fields']>;

/** The operations that the coordinator is asked for. */
export type Op = keyof typeof COORDINATOR_OPERATIONS;
export type SubmitRequest = RequestOf<'submit'>;
export type LeaseRequest = RequestOf<'lease'>;
export type HeartbeatRequest = RequestOf<'heartbeat'>;
export type CompleteRequest = RequestOf<'complete'>;
export type FailRequest = RequestOf<'fail'>;
export type KillRequest = RequestOf<'kill'>;
export type RedriveRequest = RequestOf<'redrive'>;
/** One task; with waitMs the answer is given when it is terminal or the time is over. */
export type TaskRequest = RequestOf<'task'>;
export type TasksRequest = RequestOf<'tasks'>;
export type ReportRequest = CompleteRequest | FailRequest;
export type Request = RequestOf<Op>;
/** Requests that are decided by one record, by one for each lease, or by none. */
export type DecidedBy<D extends 'record' | 'leases' | 'read'> = {
  [O in Op]: (typeof COORDINATOR_OPERATIONS)[O]['coordinator'] extends D ? RequestOf<O> : never;
}[Op];
/** What is asked of the log itself. */
export type LogFields = Omit<RequestOf<'log'>, 'op'>;
