// Owns the first moments of an ingress that listens: the judges of all forms are made one a turn,
// so that no first request waits for its own, and none that comes meanwhile for all of them.

import { FORMS, prepare } from '../../src/protocol/validate-form.ts';

export function warmUp(forms = FORMS): void {
  const [form, ...rest] = forms;
  if (form === undefined) return;
  prepare(form);
  setImmediate(warmUp, rest);
}
