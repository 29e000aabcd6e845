// Owns the making of functions out of the table of operations, as ajv makes its judges out of
// schemas: the table is looked at once, and each request then runs straight code. A loop over the
// fields costs several times as much for a small request.

/**
 * @param names what the body may use besides its arguments
 * @param args of the function, separated by commas
 * @param body its statements; made of the tables of this source and never of what a client sent
 */
export function compile<F>(
  names: Readonly<Record<string, unknown>>,
  args: string,
  body: string,
): F {
  // oxlint-disable-next-line no-new-func, typescript/no-implied-eval
  const make = new Function(...Object.keys(names), `return (${args}) => {\n${body}\n};`);
  return make(...Object.values(names)) as F;
}
