// Holds the figures of queues to a plain count of the tasks, and to a bounded number of rows.

import { expect } from 'chai';
import { QUEUES_SHOWN, queueFigures } from '../../src/core/queue-figures.ts';
import { leaseRequest, World } from '../support/world.ts';

/** `waiting` tasks in a queue, the first of which is leased and done where it is said. */
async function fill(world: World, queue: string, waiting: number, done = 0): Promise<void> {
  for (let i = 0; i < waiting + done; i += 1) await world.submit({ queue });
  for (let i = 0; i < done; i += 1) {
    const answer = await world.ask(leaseRequest({ queues: [queue] }));
    if (answer?.kind === 'leased') await world.complete(answer.leases[0] as never);
  }
}

const figuresOf = (world: World) =>
  queueFigures(world.loop.view.state, world.loop.view.state.lastAt);

describe('figures of queues', () => {
  it('are counts, and how long the first has waited', async () => {
    const world = await World.started();
    await fill(world, 'mail', 2, 1);
    await world.submit({ queue: 'mail', delayMs: 60_000 });
    world.time += 5_000;
    await world.submit({ queue: 'other' });
    const rows = figuresOf(world);
    expect(rows.map(({ queue }) => queue)).deep.equal(['mail', 'other']);
    const none = { leased: 0, failed: 0, dead: 0 };
    expect(rows[0]).include({ ...none, waiting: 3, completed: 1, eligible: 2 });
    expect(rows[0]?.oldest_waiting_ms).equal(5_000);
    expect(rows[1]).include({ ...none, waiting: 1, completed: 0, oldest_waiting_ms: 0 });
  });

  it('sum what is beyond a thousand queues as other, also a queue of that name', async function () {
    this.timeout(180_000);
    const world = await World.started();
    await fill(world, 'other', 5);
    for (let i = 0; i < QUEUES_SHOWN + 10; i += 1) await fill(world, `q${i}`, i < 12 ? 1 : 2);
    await fill(world, 'done', 0, 3);
    const rows = figuresOf(world);
    expect(rows).length(QUEUES_SHOWN + 1);
    expect(new Set(rows.map(({ queue }) => queue)).size).equal(rows.length);
    const sum = (of: 'waiting' | 'completed' | 'eligible'): number =>
      rows.reduce((all, row) => all + row[of], 0);
    expect([sum('waiting'), sum('completed')]).deep.equal([5 + 12 + 2 * (QUEUES_SHOWN - 2), 3]);
    expect(sum('eligible')).equal(sum('waiting'));
    // The fullest are shown; of those alike two, and ten go with `other` and `done`.
    for (let i = 12; i < QUEUES_SHOWN + 10; i += 1) {
      expect(rows.find(({ queue }) => queue === `q${i}`)?.waiting).equal(2);
    }
    expect(rows.at(-1)).include({ queue: 'other', waiting: 15, completed: 3, eligible: 15 });
  });
});
