// Holds the story of a task as of an earlier record to what was true then: what the log cannot know
// any more, because history was removed from it since, is not told as if nothing had been there.

import { expect } from 'chai';
import type { Explanation } from '../../src/explain/explanation.ts';
import { MemoryLog } from '../../src/log/memory-log.ts';
import { isRemoved, storyAt } from '../../src/reader/story-at.ts';
import { World } from '../support/world.ts';

const goOn = async (): Promise<boolean> => true;

async function storyOf(log: MemoryLog, taskId: number, until: number): Promise<Explanation> {
  const told = await storyAt(log, { taskId, until, removedAt: () => log.removedAt() }, goOn);
  if (told === undefined) throw new Error(`no story of task ${taskId} after record ${until}`);
  return told;
}

describe('a story as of an earlier record', () => {
  it('does not say that none was ahead when those who were are removed', async () => {
    const log = new MemoryLog({ segmentRecords: 4 });
    const world = await World.started({ retentionMs: 10_000 }, log);
    for (let n = 0; n < 3; n += 1) await world.submit();
    const last = await world.submit();
    const then = await storyOf(log, last, last);
    expect(then.now.ahead).to.equal(3);
    for (let n = 0; n < 3; n += 1) await world.complete(await world.lease());
    world.time += 30_000;
    await world.tick();
    while (world.loop.view.isRemoving) await new Promise(setImmediate);
    expect(log.dropped.has(last - 1), 'the history of the task before it is removed').to.equal(
      true,
    );

    const told = await storyOf(log, last, last);
    expect(told.now).to.deep.include({ state: 'WAITING', ahead: undefined, aheadIsMore: false });
    const said = told.now.facts.map(({ text }) => text);
    expect(said.join(' ')).to.include('were ahead of it cannot be told');
    expect(told.now.next.text).to.match(/^Once none is ahead of it, /);
    // Nothing was forgotten after the newest record.
    expect((await storyOf(log, last, log.lastNumber)).now.ahead).to.equal(0);
  });

  it('is told as of a number that a restored log skipped, and not as of one removed', async () => {
    const log = new MemoryLog();
    const world = await World.started({}, log);
    const task = await world.submit();
    await world.restart({ skip: 100 });
    const copy = world.log;
    const start = copy.lastNumber;
    expect(copy.skippedBefore(start)).to.equal(100);
    for (const at of [task, task + 1, start - 1, start]) {
      expect(isRemoved(copy, at), `record ${at}`).to.equal(false);
      expect((await storyOf(copy, task, at)).now.ahead, `record ${at}`).to.equal(0);
    }
    copy.store.drop(task);
    expect(isRemoved(copy, task)).to.equal(true);
    expect(isRemoved(copy, task + 1), 'beside what was removed').to.equal(false);
  });
});
