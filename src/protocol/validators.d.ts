// Declares what the build makes out of the forms: scripts/validators.mjs writes the functions
// themselves, beside the compiled forms, with the help of ajv.

import type { OperationName } from '../model/operations.ts';

/** The first fault that was found in a value, in the words of ajv. */
export interface Fault {
  /** The word of JSON Schema that the value does not satisfy. */
  readonly keyword: string;
  /** Where in the value, as a JSON pointer; empty: the value itself. */
  readonly instancePath: string;
  readonly params: Readonly<Record<string, unknown>>;
}

interface Validator {
  /** @returns whether the value has the form. */
  (value: unknown): boolean;
  /** Of the newest call that returned false. */
  readonly errors?: readonly Fault[] | null;
}

export declare const VALIDATORS: Readonly<Record<OperationName, Validator>>;
