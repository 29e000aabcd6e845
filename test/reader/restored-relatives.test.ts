// Reads the stories of a task and its redrive from a log that was restored from a copy: what the
// restore took from either is told in both.

import { expect } from 'chai';
import { explain } from '../../src/explain/explain-task.ts';
import { explanationText } from '../../src/explain/page-text.ts';
import type { Lease, Standing } from '../../src/model/response.ts';
import { readStory } from '../../src/reader/task-story.ts';
import { World } from '../support/world.ts';

const PERMANENT = { kind: 'permanent', reason: 'bad address' } as const;

async function page(world: World, taskId: number): Promise<string> {
  const standing = (await world.ask({ op: 'standing', taskId })) as Standing;
  return explanationText(explain(readStory(world.log, standing))).replace(/\s+/g, ' ');
}

async function redriven(world: World, taskId: number): Promise<Lease> {
  await world.ask({ op: 'redrive', taskId });
  return world.lease();
}

describe('a restore, told of a task and its redrive', () => {
  let world: World;
  let first: Lease;
  beforeEach(async () => {
    world = await World.started();
    await world.submit();
    first = await world.lease();
  });

  it('is told by a redrive that was made after it, when the origin ran', async () => {
    await world.restart({ skip: 1_000 });
    await world.fail(first, PERMANENT);
    const heir = await redriven(world, first.taskId);
    const told = await page(world, heir.taskId);
    expect(told)
      .include('whether T2 was given out in the time that is lost, no record tells.')
      .and.include('Whatever was done as T2 (once at most by the records that are left)')
      .and.include('What was done in the time that the restore lost comes on top')
      .and.include('whoever got T2 in the time that the restore lost');
  });

  it('is told by a redrive that was made after it, when the origin had failed', async () => {
    await world.fail(first, PERMANENT);
    await world.restart({ skip: 1_000 });
    const heir = await redriven(world, first.taskId);
    const told = await page(world, heir.taskId);
    expect(told)
      .include('whether T2 was redriven as another task in the time that is lost, no record')
      .and.include('Whatever was done as T2 (once at most by its records)')
      .and.include('whoever got a redrive of T2 in the time that the restore lost');
    expect(await page(world, first.taskId)).include('T2 was redriven as another task in the time');
  });

  it('is told by the origin, when its redrive ran', async () => {
    await world.fail(first, PERMANENT);
    const heir = await redriven(world, first.taskId);
    await world.restart({ skip: 1_000 });
    const told = await page(world, first.taskId);
    expect(told)
      .include(`T${heir.taskId} (once at most by the records that are left)`)
      .and.include(`whoever got T${heir.taskId} in the time that the restore lost`);
  });

  it('is not told where the copy lacks nothing of either', async () => {
    await world.fail(first, PERMANENT);
    const heir = await redriven(world, first.taskId);
    await world.complete(heir);
    await world.restart({ skip: 1_000 });
    expect(await page(world, first.taskId)).not.include('restore');
    expect(await page(world, heir.taskId)).not.include('restore');
  });
});
