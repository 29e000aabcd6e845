// Holds a run to its end: whatever was being started when it closes is gone after it.

import { expect } from 'chai';
import { CleanUp } from '../../src/rehearse/clean-up.ts';
import { Run } from '../../src/rehearse/run.ts';

const listeners = (): number =>
  process.getActiveResourcesInfo().filter((name) => name === 'TCPServerWrap').length;

describe('a run of a rehearsal', () => {
  it('leaves no proxy of a worker that was being started when it closed', async () => {
    const before = listeners();
    const cleanUp = new CleanUp();
    const run = await Run.open({
      command: 'exit 0',
      queue: 'default',
      payloads: ['{}'],
      leaseMs: 1_000,
      seed: 1,
      ledger: undefined,
      cleanUp,
    });
    const starting = run.worker();
    await run.close();
    await starting;
    await cleanUp.close();
    expect(listeners()).to.equal(before);
  });
});
