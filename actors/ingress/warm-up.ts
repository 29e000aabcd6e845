// Owns the first moments of an ingress that listens. The validators of all operations are made
// then, one in each turn of the event loop: so no first request waits for its own validator to be
// made, and no request waits for all of them.

import { OPERATION_NAMES } from '../../src/model/operations.ts';
import { prepare } from '../../src/protocol/validate-form.ts';

export function warmUp(forms = OPERATION_NAMES): void {
  const [form, ...rest] = forms;
  if (form === undefined) return;
  prepare(form);
  setImmediate(warmUp, rest);
}
