// Owns beanstalkd and the few lines of its protocol that a lifecycle needs: put, reserve, delete.

import { once } from 'node:events';
import { connect } from 'node:net';
import { startProcess } from './processes.mjs';

const binlog = (name, promise, flushed, args) => ({
  name: `beanstalkd ${name}`,
  promise,
  flushed,
  // One flush a command, whatever is in flight: a pipeline of them only makes all wait.
  pipelines: name !== '-f 0',
  open: name !== 'without a log',
  start: (directory) =>
    startProcess({
      name: 'beanstalkd',
      directory,
      command: 'beanstalkd',
      args: (directory, port) => ['-l', '127.0.0.1', '-p', String(port), ...args(directory)],
    }),
  client: ({ port }, _, payload) => client(port, payload),
});

export const beanstalkds = [
  binlog(
    '-f 0',
    'put and delete flushed before the answer; reserve is not logged',
    { submit: true, lease: false, complete: true },
    (directory) => ['-b', directory, '-f', '0'],
  ),
  binlog(
    '-f 50',
    'logged, flushed at most every 50 ms: an answer may be lost',
    { submit: false, lease: false, complete: false },
    (directory) => ['-b', directory, '-f', '50'],
  ),
  binlog(
    'without a log',
    'nothing is kept',
    { submit: false, lease: false, complete: false },
    () => [],
  ),
];

async function client(port, payload) {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.setNoDelay(true);
  socket.setEncoding('latin1');
  const waiting = []; // Answers come in the order of the commands.
  let [text, out] = ['', ''];
  socket.on('data', (chunk) => {
    text += chunk;
    for (;;) {
      const end = text.indexOf('\r\n');
      if (end < 0) return;
      const line = text.slice(0, end);
      const body = line.startsWith('RESERVED ') ? Number(line.split(' ')[2]) + 2 : 0;
      if (text.length < end + 2 + body) return;
      text = text.slice(end + 2 + body);
      waiting.shift()(line);
    }
  });
  const command = (line, expected) =>
    new Promise((resolve, reject) => {
      waiting.push((answer) => {
        if (answer.startsWith(expected)) resolve(answer.split(' ')[1]);
        else reject(new Error(`beanstalkd: ${answer}`));
      });
      if (out === '') {
        process.nextTick(() => {
          socket.write(out, 'latin1');
          out = '';
        });
      }
      out += line;
    });
  return {
    submit: (text = payload) => command(`put 0 0 60 ${text.length}\r\n${text}\r\n`, 'INSERTED'),
    lease: () => command('reserve\r\n', 'RESERVED'),
    complete: (id) => command(`delete ${id}\r\n`, 'DELETED'),
    close: () => socket.destroy(),
  };
}
