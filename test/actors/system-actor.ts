// An actor for system-pool.test.ts that can be made to hang or to die in every way a thread can.

import type { MessagePort } from 'node:worker_threads';
import type { ActorControl } from '../../actors/shared/control.ts';
import { serveControl } from '../../actors/shared/control-port.ts';

export interface MortalControl extends ActorControl {
  hang(): Promise<void>;
  die(how: 'throw' | 'exit'): Promise<void>;
}

export default function mortal({ control }: { control: MessagePort }): Promise<void> {
  return new Promise((resolve) => {
    const actor: MortalControl = {
      start: () => ({ ok: true, address: 'nowhere' }),
      quiesce: () => {},
      stop: () => void setImmediate(resolve),
      hang: () => new Promise(() => {}),
      die(how) {
        setImmediate(() => {
          if (how === 'exit') process.exit(7);
          throw new Error('the thread broke');
        });
        return new Promise(() => {});
      },
    };
    serveControl(control, actor);
  });
}
