// The same over node:http: a body is parsed, and every request gets the same answer.
//
//   node canned-http-server.mjs PORT

import { createServer } from 'node:http';
import { COMPLETED, LEASED, SUBMITTED } from './canned.mjs';

const [port] = process.argv.slice(2);

function answerOf(url) {
  if (url === '/v1/tasks') return [201, SUBMITTED];
  return url === '/v1/leases' ? [200, LEASED] : [200, COMPLETED];
}

const server = createServer((request, response) => {
  let text = '';
  request.setEncoding('utf8');
  request.on('data', (chunk) => {
    text += chunk;
  });
  request.on('end', () => {
    JSON.parse(text);
    const [status, body] = answerOf(request.url);
    response.writeHead(status, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': body.length,
    });
    response.end(body);
  });
});
server.listen(Number(port), '127.0.0.1');
