// A thread in the coordinator's place, for system-coordinator.test.ts: it ends as `dataDir` says.

import { workerData } from 'node:worker_threads';
import type { CoordinatorData, FromCoordinator, ToCoordinator } from '../../actors/control.ts';

const { control, dataDir: ending } = workerData as CoordinatorData;
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
if (ending === 'throw') throw new Error('a bug');
if (ending === 'exit') process.exit(9);
