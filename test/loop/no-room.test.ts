// What a coordinator takes while its store wants no new tasks.

import { expect } from 'chai';
import type { Refusal } from '../../src/model/refusal.ts';
import type { Response } from '../../src/model/response.ts';
import { World } from '../support/world.ts';

const refusal = (response: Response | undefined): Refusal => response as Refusal;

describe('coordinator: a store that is nearly full', () => {
  it('is given no new tasks, and all that goes on with the ones there are', async () => {
    const world = await World.started();
    const content = { requestId: 'r', contentHash: new Uint8Array(16) };
    const known = await world.submit(content);
    const failed = await world.submit();
    const first = await world.lease();
    await world.fail(await world.lease(), { kind: 'permanent' });
    const records = world.records().length;
    world.noRoom = 'there is no room';
    for (const request of [
      { op: 'submit', queue: 'q', payload: new Uint8Array() },
      { op: 'redrive', taskId: failed },
    ] as const) {
      const refused = refusal(await world.ask(request));
      expect(refused).to.include({ outcome: 'UNAVAILABLE', reason: 'log_unavailable' });
      expect(refused.detail).to.equal('there is no room');
    }
    expect(world.records()).to.have.length(records);
    // A submit that is repeated makes no task.
    expect(await world.submit(content)).to.equal(known);
    expect(await world.heartbeat(first)).to.have.property('kind', 'heartbeat');
    expect(await world.complete(first)).to.have.property('kind', 'committed');
    expect(await world.ask({ op: 'stats' })).to.have.property('kind', 'overview');
    world.noRoom = undefined;
    await world.submit();
    await world.complete(await world.lease());
    expect(world.broken()).to.deep.equal([]);
  });
});
