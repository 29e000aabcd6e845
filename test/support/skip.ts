// Owns how a test that this machine cannot play ends: it is pending, and a line says why.

export function skip(test: Mocha.Context, why: string): never {
  console.warn(`    skipped: ${why}`);
  return test.skip();
}
