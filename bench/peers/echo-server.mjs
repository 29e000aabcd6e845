// A server of one thread that decides nothing: each line is parsed and answered with the same
// bytes. With a file, the lines of a turn of the event loop are written to it and flushed, once,
// before their answers leave: the least that a durable server can do.
//
//   node echo-server.mjs PORT [FILE]

import { fdatasyncSync, openSync, writeSync } from 'node:fs';
import { createServer } from 'node:net';
import { COMPLETED, LEASED, SUBMITTED } from './canned.mjs';

const [port, file] = process.argv.slice(2);
const ANSWERS = { submit: SUBMITTED, lease: LEASED, complete: COMPLETED };
const log = file === undefined ? undefined : openSync(file, 'w', 0o600);
let end = 0;
let lines = '';
let waiting = [];

/** Writes and flushes what came in this turn, then answers it. */
function commit() {
  end += writeSync(log, lines, end, 'latin1');
  fdatasyncSync(log);
  const answered = waiting;
  lines = '';
  waiting = [];
  for (const { socket, answers } of answered) socket.write(answers, 'latin1');
}

function answerOf(line) {
  const { id, method } = JSON.parse(line);
  return `{"jsonrpc":"2.0","id":${id},"result":${ANSWERS[method]}}\n`;
}

const server = createServer((socket) => {
  socket.setNoDelay(true);
  socket.setEncoding('latin1');
  socket.on('error', () => {});
  let rest = '';
  socket.on('data', (chunk) => {
    const text = rest + chunk;
    let from = 0;
    let answers = '';
    for (let to = text.indexOf('\n'); to >= 0; to = text.indexOf('\n', from)) {
      answers += answerOf(text.slice(from, to));
      from = to + 1;
    }
    rest = text.slice(from);
    if (answers === '') return;
    if (log === undefined) {
      socket.write(answers, 'latin1');
      return;
    }
    if (waiting.length === 0) setImmediate(commit);
    lines += text.slice(0, from);
    waiting.push({ socket, answers });
  });
});
server.listen(Number(port), '127.0.0.1');
