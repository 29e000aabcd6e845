// Owns the making of functions out of the table of operations, as ajv makes validators out of
// schemas. The table is read once, at the start, and each request then runs straight code. A loop
// over the fields would cost several times as much for a small request.

/**
 * @param names the values that the body may use besides its arguments
 * @param args the names of the function's arguments, separated by commas
 * @param body the function's statements; made from the tables of this source, never from anything
 *   that a client sent
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
