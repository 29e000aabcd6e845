// Owns typed payloads: a schema of any library that follows the Standard Schema (zod, valibot,
// arktype, …) checks each payload. This file depends on none of these libraries.

import { LeaseholdError, PermanentFailure } from './errors.ts';
import type { Lease } from './lease.ts';

/** The part of the Standard Schema, version 1, that is used here. */
export interface Schema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}
export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };
export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** Issues that are told; a payload that fits in nothing has many. */
const ISSUES_MAX = 5;

/** Some libraries make schemas that are functions. */
export function isSchema(value: unknown): value is Schema {
  if (typeof value !== 'function' && (typeof value !== 'object' || value === null)) return false;
  const { '~standard': standard } = value as Partial<Schema>;
  return typeof standard?.validate === 'function';
}

/**
 * Checks the payload; afterwards `task.json()` returns the value that the schema made of it.
 * @throws PermanentFailure that names the fields which do not fit: every further attempt would
 *   find the same payload
 */
export async function readBySchema(schema: Schema, task: Lease): Promise<void> {
  const result = await schema['~standard'].validate(task.json());
  if (result.issues !== undefined) {
    throw new PermanentFailure(`the payload is not as it should be: ${issuesText(result.issues)}`);
  }
  const { value } = result;
  Object.defineProperty(task, 'json', { value: () => value });
}

/** @throws LeaseholdError INVALID_ARGUMENT that names the fields */
export async function assertFits(schema: Schema, payload: unknown): Promise<void> {
  const { issues } = await schema['~standard'].validate(payload);
  if (issues === undefined) return;
  throw new LeaseholdError('INVALID_ARGUMENT', `payload: ${issuesText(issues)}`);
}

function issuesText(issues: readonly SchemaIssue[]): string {
  const told = issues.slice(0, ISSUES_MAX).map(({ message, path }) => {
    const place = (path ?? []).map((step) => String(typeof step === 'object' ? step.key : step));
    return place.length === 0 ? message : `${place.join('.')}: ${message}`;
  });
  const left = issues.length - told.length;
  return left === 0 ? told.join('; ') : `${told.join('; ')}; and ${left} more`;
}
