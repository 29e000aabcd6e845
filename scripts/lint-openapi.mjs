// Lints the OpenAPI document of the build with redocly: what the schemas make must also be what
// other people's tools can read. Needs `npm run build` before.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const { openApi } = await import('../dist/src/protocol/openapi.js');
const folder = mkdtempSync(join(tmpdir(), 'leasehold-openapi-'));
const file = join(folder, 'openapi.json');
writeFileSync(file, JSON.stringify(openApi('0.0.0')));
const tools = fileURLToPath(new URL('tools.mjs', import.meta.url));
try {
  const lint = ['redocly', 'lint', '--extends=recommended', '--format=stylish', file];
  execFileSync(process.execPath, [tools, ...lint], {
    stdio: 'inherit',
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  });
} catch {
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
