// A thread in the coordinator's place, for the supervisor's tests: it ends as `dataDir` says.

import { workerData } from 'node:worker_threads';
import type {
  CoordinatorData,
  FromCoordinator,
  ToCoordinator,
} from '../../actors/shared/control.ts';
import { Progress } from '../../actors/shared/progress.ts';

const { control, dataDir: ending, progress: shared } = workerData as CoordinatorData;
const progress = new Progress(shared);
const say = (message: FromCoordinator): void => control.postMessage(message);

control.on('message', (message: ToCoordinator) => {
  if (message.kind === 'attach') say({ kind: 'durable', seq: Number(message.end.name) });
  if (message.kind !== 'stop') return;
  say({ kind: 'stopped' });
  control.close();
});

if (ending === 'fatal') {
  say({ kind: 'fatal', code: 'LOG_LOCKED', message: 'another one has it' });
  process.exit(1);
}
// The epoch counts the lives here.
progress.epoch += 1;
if (ending === 'serving' || (ending === 'dies once' && progress.epoch > 1)) {
  say({ kind: 'opened', created: true, records: 0, path: 'nowhere' });
  say({ kind: 'ready', replayMs: 0, replayRecords: 0, epoch: progress.epoch });
} else if (ending === 'dies once') {
  throw new Error('once');
}
if (ending === 'throw') throw new Error('a bug');
if (ending === 'exit') process.exit(9);
