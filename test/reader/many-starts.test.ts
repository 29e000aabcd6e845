// Reads stories over more starts of the coordinator than a page lists: those in the task's own
// history are told however many came after it, and a restore is told however old it is.

import { expect } from 'chai';
import { explain } from '../../src/explain/explain-task.ts';
import type { Explanation } from '../../src/explain/explanation.ts';
import { explanationText } from '../../src/explain/page-text.ts';
import type { Standing } from '../../src/model/response.ts';
import { readStory } from '../../src/reader/task-story.ts';
import { World } from '../support/world.ts';

const MANY = 120;

async function told(world: World, taskId: number): Promise<Explanation> {
  const standing = (await world.ask({ op: 'standing', taskId })) as Standing;
  return explain(readStory(world.log, standing));
}

const page = (one: Explanation): string => explanationText(one).replace(/\s+/g, ' ');

async function restarted(world: World, times = MANY): Promise<void> {
  for (let n = 0; n < times; n += 1) await world.restart();
}

describe('a story over many starts', () => {
  let world: World;
  beforeEach(async () => {
    world = await World.started();
    await world.submit();
  });

  it('tells of the starts in it, whatever came after its end', async () => {
    await world.restart();
    const start = world.log.lastNumber;
    await world.complete(await world.lease());
    await restarted(world);
    const one = await told(world, 2);
    expect(one.starts.map(({ seq }) => seq)).deep.equal([start]);
    expect(one.startsLeftOut).equal(0);
    expect(page(one)).not.include('was not restarted');
  });

  it('tells of a restore that came before the starts that are listed', async () => {
    await world.restart({ skip: 1_000 });
    const restore = world.log.lastNumber;
    await restarted(world);
    const one = await told(world, 2);
    expect(one.starts).length(101);
    expect(one.starts[0]).deep.include({ seq: restore, restored: { after: 2, at: one.createdAt } });
    // How long the coordinator was down before the oldest that is listed, the others would tell.
    expect(one.starts[1]?.lastAliveAt).equal(undefined);
    expect(one.startsLeftOut).equal(MANY - 100);
    expect(page(one)).include('By the records that are left');
  });

  it('tells of a restore that came after a task had failed, and before many starts', async () => {
    await world.fail(await world.lease(), { kind: 'permanent' });
    await restarted(world);
    await world.restart({ skip: 1_000 });
    const restore = world.log.lastNumber;
    await restarted(world);
    const one = await told(world, 2);
    expect(one.starts.map(({ seq }) => seq)).deep.equal([restore]);
    expect(page(one)).include('Whether it was redriven in the time that is lost');
  });
});
