// Actors under the pool, with real threads: a death is noticed, and no call hangs because of it.

import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { ActorGone } from '../../actors/shared/control-port.ts';
import { type Actor, ActorPool } from '../../actors/supervisor/pool.ts';
import type { MortalControl } from './system-actor.ts';

const FILE = fileURLToPath(new URL('./system-actor.js', import.meta.url));

describe('an actor under the pool', () => {
  let pool: ActorPool;
  const start = (): Actor<MortalControl> => pool.start({ name: 'mortal', file: FILE, data: {} });
  const gone = async (call: Promise<unknown>): Promise<void> => {
    const error = await call.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).to.be.instanceOf(ActorGone).and.have.property('code', 'ACTOR_GONE');
  };

  beforeEach(() => {
    pool = new ActorPool(2);
  });
  afterEach(() => pool.destroy());

  it('answers calls, and its end after a stop is no death', async () => {
    const actor = start();
    const started = await actor.control.call((remote) => remote.start());
    expect(started).to.deep.equal({ ok: true, address: 'nowhere' });
    await actor.control.call((remote) => remote.stop()).catch(() => {});
    expect(await actor.over).to.equal(undefined);
  });

  for (const how of ['throw', 'exit'] as const) {
    it(`that dies by ${how} rejects the calls that are open, and all later ones`, async () => {
      const actor = start();
      const hanging = gone(actor.control.call((remote) => remote.hang()));
      const fatal = gone(actor.control.call((remote) => remote.die(how)));
      expect(await actor.over).to.be.instanceOf(Error);
      await Promise.all([hanging, fatal]);
      await gone(actor.control.call((remote) => remote.start()));
    });
  }

  it('that died is replaced by another one in the same pool', async () => {
    for (let life = 0; life < 3; life++) {
      const actor = start();
      const fatal = gone(actor.control.call((remote) => remote.die('exit')));
      await Promise.all([actor.over, fatal]);
    }
    const last = start();
    expect(await last.control.call((remote) => remote.start())).to.have.property('ok', true);
  });

  it('leaves the others alone when it dies', async () => {
    const [first, second] = [start(), start()];
    await second.control.call((remote) => remote.start());
    const fatal = gone(first.control.call((remote) => remote.die('throw')));
    await Promise.all([first.over, fatal]);
    expect(await second.control.call((remote) => remote.start())).to.have.property('ok', true);
  });
});
