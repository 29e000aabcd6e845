// Calls the route handler of the recipe for Next as Next would: with a Request of the Web, for a
// Response. The framework itself is not needed for that.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const file: string = pathToFileURL(path.resolve('docs', 'examples', 'next-route.mjs')).href;
const { POST } = (await import(file)) as { POST(request: Request): Promise<Response> };

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const headers = new Headers(request.headers as Record<string, string>);
    const init = { method: 'POST', headers, body: Buffer.concat(chunks) };
    void answer(new Request(`http://localhost${request.url}`, init));
  });
  async function answer(asked: Request): Promise<void> {
    const answered = await POST(asked);
    response.writeHead(answered.status, Object.fromEntries(answered.headers));
    response.end(await answered.text());
  }
});
server.listen(0, '127.0.0.1', () => {
  console.log(`listening on port ${(server.address() as AddressInfo).port}`);
});
// Next's own server ends by itself, and so does the process.
process.once('SIGTERM', () => process.exit(0));
