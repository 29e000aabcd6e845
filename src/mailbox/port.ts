// Owns listening on a port so that the death of the other side is always noticed, once, and after
// its last batch.

import type { MessagePort } from 'node:worker_threads';

/** Node has had it since 18.1; its types for Node 20 have not. */
type ReferencedPort = MessagePort & { hasRef(): boolean };

/** @param onDeath called once, never before this function has returned. */
export function listen(
  port: MessagePort,
  onBatch: (batch: ArrayBuffer) => void,
  onDeath: () => void,
): void {
  port.on('message', onBatch);
  port.on('close', onDeath);
  // A port whose other side died earlier has had its 'close' without a listener. Such a port
  // cannot keep the event loop alive, and no other sign of its death can be seen.
  if (!(port as ReferencedPort).hasRef()) setImmediate(onDeath);
}
