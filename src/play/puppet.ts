// Owns one worker process of a story. The process does nothing on its own: it sends each request
// that it is told to send, and prints the answer. It can be killed and frozen like any process.
//
// A line on its standard input is a request {path, body}; a line on its standard output is the
// answer. With `drop` the process closes the connection when the answer has begun, so the answer
// is lost.

import http from 'node:http';
import { createInterface } from 'node:readline';

export interface Told {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly drop?: boolean;
}

export interface Heard {
  /** 0: the answer was lost, or nobody was there. */
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

const url = new URL(process.argv[2] ?? '');

function send({ path, body, drop }: Told): Promise<Heard> {
  return new Promise((resolve) => {
    const lost = (): void => resolve({ status: 0, body: {} });
    const options = { host: url.hostname, port: url.port, path, method: 'POST', agent: false };
    const request = http.request(options, (response) => {
      if (drop === true) {
        response.destroy();
        lost();
        return;
      }
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('error', lost);
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) as Heard['body'] });
      });
    });
    request.on('error', lost);
    request.end(JSON.stringify(body));
  });
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await send(JSON.parse(line) as Told))}\n`);
}
