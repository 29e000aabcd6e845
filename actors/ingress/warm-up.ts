// Owns the first moments of an ingress that listens: the judges of all operations are made one a
// turn, so that no first request waits for its own, and none that comes meanwhile for all of them.

import { OPERATION_NAMES } from '../../src/model/operations.ts';
import { prepare } from '../../src/protocol/validate-form.ts';

export function warmUp(forms = OPERATION_NAMES): void {
  const [form, ...rest] = forms;
  if (form === undefined) return;
  prepare(form);
  setImmediate(warmUp, rest);
}
