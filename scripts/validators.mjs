// Writes the validators of a build: ajv makes one function out of the form of each operation, so
// that no thread has to make them at each start. usage: node scripts/validators.mjs DIST
import { copyFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Ajv } from 'ajv';
import standalone from 'ajv/dist/standalone/index.js';

const protocol = join(resolve(process.argv[2] ?? 'dist'), 'src', 'protocol');
const { FORMS } = await import(pathToFileURL(join(protocol, 'forms.js')).href);
/** How ajv asks for its count of the characters of a text, in a module that has no `require`. */
const COUNT = 'require("ajv/dist/runtime/ucs2length").default';

// Our schemas come from our own tables and are tested, so no schema is checked against the
// meta-schema. Validation ends at the first fault, because a body may hold a million faults.
const ajv = new Ajv({
  ...{ meta: false, validateSchema: false, strict: false, ownProperties: true },
  code: { source: true, esm: true },
});
// A name of ours may be a word that JavaScript keeps for itself.
const names = Object.keys(FORMS).map((operation, i) => [`validator${i}`, operation]);
for (const [, operation] of names) ajv.addSchema(FORMS[operation], operation);
const code = standalone.default(ajv, Object.fromEntries(names)).replaceAll(COUNT, 'count.default');
if (/\brequire\(/.test(code)) throw new Error('a validator needs more of ajv than the count');

const entries = names.map(([name, operation]) => `  ${JSON.stringify(operation)}: ${name},\n`);
writeFileSync(
  join(protocol, 'validators.js'),
  `// Made from the forms of the operations by scripts/validators.mjs.
import count from 'ajv/dist/runtime/ucs2length.js';
${code}
export const VALIDATORS = {
${entries.join('')}};
`,
);
// The compiler passes over declarations that were written by hand, and others refer to these.
const declared = fileURLToPath(new URL('../src/protocol/validators.d.ts', import.meta.url));
copyFileSync(declared, join(protocol, 'validators.d.ts'));
