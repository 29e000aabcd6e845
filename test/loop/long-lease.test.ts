// One lease that is renewed a hundred thousand times, as a task of days is: no renewal costs more
// than the first did, the state keeps none of them, each adds one small record to the log, and to
// explain the task reads a bounded part of them, and still tells why it ran again. All of it is
// counted, nothing is timed.

import { expect } from 'chai';
import { Column, WideColumn } from '../../src/core/columns.ts';
import { stateDigest } from '../../src/core/digest.ts';
import { explain } from '../../src/explain/explain-task.ts';
import { explanationJson } from '../../src/explain/page-json.ts';
import { encodeRecord } from '../../src/log/codec.ts';
import { replay } from '../../src/loop/replay.ts';
import type { Lease, Standing } from '../../src/model/response.ts';
import { readStory } from '../../src/reader/task-story.ts';
import { digestText, KNOBS, World } from '../support/world.ts';

const RENEWALS = 100_000;
const COUNTED = 1_000;
/** A renewal's record with its checksum. */
const RECORD_BYTES = 64;
/** Of a lease's renewals the newest are read and shown. */
const SHOWN = 20_000;

/** @returns how often the state's numbers are read and written meanwhile. */
async function accesses(act: () => Promise<void> | void): Promise<number> {
  let count = 0;
  const restore = [Column, WideColumn].map(({ prototype }) =>
    onAccess(prototype, () => {
      count += 1;
    }),
  );
  try {
    await act();
  } finally {
    for (const one of restore) one();
  }
  return count;
}

function onAccess(prototype: Pick<Column, 'get' | 'set'>, tell: () => void): () => void {
  const { get, set } = prototype;
  prototype.get = function counting(row) {
    tell();
    return get.call(this, row);
  };
  prototype.set = function counting(row, value) {
    tell();
    set.call(this, row, value);
  };
  return () => Object.assign(prototype, { get, set });
}

describe(`a lease that is renewed ${RENEWALS} times`, () => {
  let world: World;
  let lease: Lease;
  const costs: number[] = [];

  before(async function () {
    this.timeout(180_000);
    world = await World.started({ executionWindowMs: 10 * RENEWALS });
    await world.submit();
    await world.lease();
    world.time += KNOBS.leaseDurationMs;
    await world.tick();
    lease = await world.lease();
    for (let done = 0; done < RENEWALS; done += COUNTED) {
      costs.push(await accesses(() => renew(world, lease, COUNTED)));
    }
  });

  it('costs as much for the last renewal as for the first', () => {
    expect(costs).to.have.length(RENEWALS / COUNTED);
    expect(costs[0]).to.be.greaterThan(COUNTED);
    expect(new Set(costs.slice(1)).size, 'each thousand like every other').to.equal(1);
    expect(costs.at(-1)).to.be.at.most(costs[0] as number);
  });

  it('keeps one lease and no renewal in the state', () => {
    const { state } = world.loop.view;
    const kept = state.leases.get(lease.leaseId);
    expect(state.leases.size).to.equal(1);
    expect(kept?.extensions).to.equal(RENEWALS);
    expect(JSON.stringify(kept).length).to.be.below(400);
    const row = state.tasks.find(lease.taskId);
    expect(JSON.stringify(state.histories.get(row) ?? null).length).to.be.below(400);
  });

  it(`adds one record of at most ${RECORD_BYTES} bytes to the log for each`, () => {
    const renewals = world.records().filter(({ type }) => type === 'LeaseExtended');
    expect(renewals).to.have.length(RENEWALS);
    const largest = Math.max(...renewals.slice(-COUNTED).map((one) => encodeRecord(one).length));
    expect(largest).to.be.within(8, RECORD_BYTES);
  });

  it('is replayed at the cost of one renewal each', async () => {
    let digest = '';
    const count = await accesses(() => {
      digest = stateDigest(replay(world.log, { digestText }).state);
    });
    expect(digest).to.equal(stateDigest(world.loop.view.state));
    expect(count / RENEWALS).to.be.below(20);
  }).timeout(180_000);

  it(`is explained from ${SHOWN} records at most, and says how many it left out`, async () => {
    await world.complete(lease);
    const standing = (await world.ask({ op: 'standing', taskId: lease.taskId })) as Standing;
    let reads = 0;
    const log = {
      get(seq: number) {
        reads += 1;
        return world.log.get(seq);
      },
      skippedBefore: (seq: number) => world.log.skippedBefore(seq),
    };
    const told = explain(readStory(log, standing));
    expect(reads).to.be.within(SHOWN, SHOWN + 20);
    expect(told.attempts.map(({ extensions }) => extensions)).to.deep.equal([0, RENEWALS]);
    expect(told.recordsLeftOut).to.be.within(RENEWALS - SHOWN, RENEWALS - SHOWN + 20);
    expect(explanationJson(told).length / SHOWN, 'bytes for each that is shown').to.be.below(300);
  }).timeout(180_000);
});

/** A millisecond apart, in one group. */
async function renew(world: World, { taskId, leaseId }: Lease, times: number): Promise<void> {
  for (let done = 0; done < times; done += 1) {
    world.time += 1;
    const ticket = world.take({ op: 'heartbeat', taskId, leaseId });
    if (done === times - 1) {
      await world.settle();
      expect(world.answers.get(ticket)).to.include({ kind: 'heartbeat' });
    }
  }
}
