// The state that a node keeps ready while it follows, and the history that leaves its copy with the
// leader's.

import { expect } from 'chai';
import { Standby } from '../../src/cluster/standby.ts';
import { stateDigest } from '../../src/core/digest.ts';
import { MemoryLog } from '../../src/log/memory-log.ts';
import type { LogRecord } from '../../src/model/records.ts';
import { digestText, World } from '../support/world.ts';

/** Takes into the copy, and tells the standby of, what the leader's log holds beyond it. */
async function followed(leader: World, copy: MemoryLog, standby: Standby): Promise<void> {
  for (const record of [...leader.log.read(copy.lastNumber + 1)]) {
    const taken = record.seq === copy.lastNumber + 1 ? [record] : undefined;
    expect(taken, 'the leader has removed nothing yet').not.to.equal(undefined);
    if (record.type === 'CoordinatorStarted') await copy.start(record);
    else await copy.append([record] as LogRecord[]);
    standby.took(record);
  }
}

describe('the state that is kept ready', () => {
  it('is that of the leader after each record, and history leaves this copy, too', async () => {
    const leader = await World.started({ retentionMs: 1_000 });
    const copy = new MemoryLog({ segmentRecords: 5 });
    const removed: number[] = [];
    const events = { removed: (_: object, records: number) => void removed.push(records) };
    const standby = new Standby({ log: copy, archive: undefined, digestText, events });
    expect(await standby.warmUp(new AbortController().signal, () => {})).to.equal(true);
    for (let n = 0; n < 20; n += 1) {
      await leader.submit();
      await leader.complete(await leader.lease());
      leader.time += 700;
      await leader.tick();
      await followed(leader, copy, standby);
      await new Promise(setImmediate);
      expect(stateDigest(standby.replayer.state)).to.equal(stateDigest(leader.loop.view.state));
    }
    await standby.stop();
    expect(removed.reduce((sum, one) => sum + one, 0)).to.be.greaterThan(20);
    const again = new Standby({ log: copy, archive: undefined, digestText, events: {} });
    await again.warmUp(new AbortController().signal, () => {});
    expect(again.replayer.state.lastSeq).to.equal(leader.loop.view.state.lastSeq);
    await again.stop();
  });

  it('stops warming up when the process stops', async () => {
    const world = await World.started();
    for (let n = 0; n < 5_000; n += 1) await world.submit();
    const standby = new Standby({ log: world.log, archive: undefined, digestText, events: {} });
    const ending = new AbortController();
    const warm = standby.warmUp(ending.signal, () => ending.abort());
    expect(await warm).to.equal(false);
    await standby.stop();
  });
});
