// How a coordinator's thread ends, as its supervisor sees it, with real threads.

import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { FromCoordinator } from '../../actors/shared/control.ts';
import { Progress } from '../../actors/shared/progress.ts';
import { CoordinatorThread } from '../../actors/supervisor/coordinator-life.ts';
import type { CoreKnobs } from '../../src/model/knobs.ts';

const FILE = fileURLToPath(new URL('./coordinator-thread.js', import.meta.url));

function start(ending: string): { thread: CoordinatorThread; heard: FromCoordinator[] } {
  const heard: FromCoordinator[] = [];
  const data = {
    dataDir: ending,
    core: {} as CoreKnobs,
    segmentBytes: 1,
    tickMs: 50,
    acceptClock: false,
    skip: 0,
    failedStarts: 0,
    version: '0.0.0',
    progress: Progress.share(),
  };
  const mailbox = { maxRequests: 8, maxBytes: 1_024 };
  const thread = new CoordinatorThread({ file: FILE, data, mailbox }, (m) => heard.push(m));
  return { thread, heard };
}

describe('the coordinator thread', () => {
  it('that was asked to stop ends as stopped', async () => {
    const { thread, heard } = start('live');
    thread.stop();
    expect((await thread.over).kind).to.equal('stopped');
    expect(heard).to.deep.equal([{ kind: 'stopped' }]);
  });

  it('that says why it ends is believed', async () => {
    const { thread } = start('fatal');
    const end = await thread.over;
    expect(end).to.deep.equal({
      kind: 'fatal',
      code: 'LOG_LOCKED',
      message: 'another one has it',
    });
  });

  it('that throws has died, and the error is kept', async () => {
    const { thread } = start('throw');
    const end = await thread.over;
    expect(end.kind).to.equal('died');
    if (end.kind === 'died') expect(end.error.message).to.equal('a bug');
  });

  it('that exits without a word has died', async () => {
    const { thread } = start('exit');
    const end = await thread.over;
    expect(end.kind).to.equal('died');
    if (end.kind === 'died') expect(end.error.message).to.include('9');
  });

  it('gets connections handed over while it runs', async () => {
    const { thread, heard } = start('live');
    for (const name of ['1', '2']) thread.connect(name, { exempt: false });
    thread.stop();
    await thread.over;
    expect(heard).to.deep.equal([
      { kind: 'durable', seq: 1 },
      { kind: 'durable', seq: 2 },
      { kind: 'stopped' },
    ]);
  });
});
