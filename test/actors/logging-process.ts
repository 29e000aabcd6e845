// A process for logger.test.ts that logs from its main thread and from a worker at the same time.

import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { createLogger, type LogSettings } from '../../actors/supervisor/logger.ts';

interface LoggingTask {
  readonly settings: LogSettings;
  readonly lines: number;
}

const task: LoggingTask = isMainThread ? JSON.parse(process.argv[2] ?? '') : workerData;
const logger = createLogger(isMainThread ? 'main' : 'worker', task.settings);
if (isMainThread) new Worker(new URL(import.meta.url), { workerData: task });

let line = 0;
const write = () => {
  line += 1;
  logger.info({ line, filler: 'x'.repeat(20_000), token: 's3cret' }, 'a long line');
  logger.debug('below the level');
  if (line < task.lines) setImmediate(write);
};
write();
