// Owns the coordinator's thread: it opens the log, waits until this process may write it, and runs
// the actor around the loop. It ends by itself only after saying why, and is never terminated from
// outside, because ending a thread that writes LMDB ends the process.

import { workerData } from 'node:worker_threads';
import { clock } from '../shared/clock.ts';
import type { CoordinatorData, FromCoordinator, ToCoordinator } from '../shared/control.ts';
import { watchLag } from '../shared/event-loop-lag.ts';
import { Progress } from '../shared/progress.ts';
import { CoordinatorActor } from './coordinator-actor.ts';
import { lastWords } from './last-words.ts';
import { openStore } from './open-store.ts';
import type { Lead, Store } from './store.ts';

const data = workerData as CoordinatorData;
const progress = new Progress(data.progress);
const lag = watchLag('coordinator');
const say = (message: FromCoordinator): void => data.control.postMessage(message);

/** Reports the error and ends this thread; the supervisor decides what follows. */
function die(error: unknown): never {
  progress.phase = 'down';
  const { told, followsAgain } = store?.ending(error) ?? { told: error };
  const words = lastWords(told ?? error, data.dataDir);
  say(followsAgain === undefined ? words : { ...words, followsAgain });
  data.control.close();
  // Exits in a turn of its own, so that the message posted above leaves the thread first.
  setImmediate(() => process.exit(1));
  throw error;
}

/** Says that all is answered and closed; the thread ends when nothing holds it any more. */
function ended(): void {
  say({ kind: 'stopped' });
  data.control.close();
  lag.stop();
}

let store: Store | undefined;
let actor: CoordinatorActor | undefined;
const stopping = new AbortController();
const ends = [...data.ends];

function hear(message: ToCoordinator): void {
  if (message.kind === 'attach') {
    if (actor === undefined) ends.push(message.end);
    else actor.attach(message.end);
    return;
  }
  stopping.abort();
  // Who does not decide yet owes nobody an answer: nothing under way is waited for.
  if (actor === undefined) store?.abandon();
  void actor?.stop().then(ended).catch(die);
}

async function run(): Promise<void> {
  const onCommit = (isUnderWay: boolean): void => {
    progress.committingSince = isUnderWay ? clock.monotonic() : 0;
  };
  store = await openStore({ data, progress, say, die, onCommit, signal: stopping.signal });
  const lead = await led(store);
  if (lead === undefined || store === undefined || stopping.signal.aborted) {
    await store?.close();
    return ended();
  }
  actor = new CoordinatorActor(store, lead, { data, progress, lag, say, die });
  for (const end of ends) actor.attach(end);
  await actor.start();
}

function led(store: Store | undefined): Promise<Lead | undefined> {
  if (store === undefined) return Promise.resolve(undefined);
  const { created, lastNumber } = store.log;
  say({ kind: 'opened', created, records: lastNumber, path: data.dataDir });
  return store.lead();
}

data.control.on('message', hear);
await run().catch(die);
