// `top` of the real executable in a pseudo terminal of 80 × 24: one screen, in place, over a kill
// of the server, with keys; and the terminal is given back whatever ends it.

import { expect } from 'chai';
import { widthOf } from '../../src/cli/table.ts';
import { hasPseudoTerminals, PseudoTerminal } from '../support/pseudo-terminal.ts';
import { cleanEnv, type Fields, type Server } from '../support/server.ts';
import { skip } from '../support/skip.ts';
import { Stage } from './support.ts';

const LEAVE = '\u001b[?25h\u001b[?1049l';

describe('top', function () {
  this.timeout(180_000);
  let stage: Stage;
  let server: Server;
  const open: PseudoTerminal[] = [];

  before(async function () {
    if (!hasPseudoTerminals()) {
      skip(this, '`script` of util-linux is missing');
    }
    stage = await Stage.open();
    server = await stage.serve(['--lease-duration-ms', '600000']).ready();
    for (let n = 0; n < 30; n += 1) await stage.submit({ queue: `queue-${n}` });
    await stage.submit({ queue: 'busy' });
    await stage.submit({ queue: 'busy' });
    for (let n = 0; n < 12; n += 1) {
      const asked = { worker_id: `worker-${n}`, queues: [`queue-${n}`] };
      await stage.call('POST', '/v1/leases', asked);
    }
  });
  afterEach(() => Promise.all(open.splice(0).map((terminal) => terminal.close())));
  after(() => stage?.close());

  function top(args: readonly string[] = []): PseudoTerminal {
    const env = cleanEnv({ LEASEHOLD_URL: stage.url });
    const terminal = new PseudoTerminal(['top', '--interval', '200ms', ...args], env, stage.dir);
    open.push(terminal);
    return terminal;
  }

  it('shows both on one screen that fits, sorts, and gives the terminal back', async () => {
    const terminal = top();
    const first = await terminal.shows(/queues by: waiting/);
    expect(first).to.have.length(22);
    expect(first.join('\n')).to.match(/^> busy +2 /m);
    expect(first.join('\n'))
      .to.match(/\d+ more queues/)
      .and.to.match(/^ {2}worker-11 +1 /m);
    terminal.press('s');
    await terminal.shows(/queues by: oldest/);
    terminal.press('w');
    await terminal.shows(/workers by: held/);
    terminal.press('q');
    expect(await terminal.ended()).to.equal('0 icanon');
    expect(terminal.written).to.include(LEAVE);
    for (const frame of terminal.frames()) {
      expect(frame).to.have.length.at.most(22);
      for (const line of frame) expect(widthOf(line), line).to.be.at.most(80);
    }
  });

  it("opens a queue's tasks and a task's explain, and returns", async () => {
    const terminal = top();
    await terminal.shows(/^> busy/m);
    terminal.press('\r');
    await terminal.shows(/The newest tasks of queue busy/);
    terminal.press('\r');
    const story = await terminal.shows(/explain T\d+: lines 1 to/);
    expect(story.join('\n')).to.include('WAITING');
    terminal.press('\u001b');
    await terminal.shows(/The newest tasks of queue busy/);
    terminal.press('\u001b');
    await terminal.shows(/queues by/);
    // A worker's row: its tasks.
    terminal.press('w');
    await terminal.shows(/^> worker-/m);
    terminal.press('\u001b[A\u001b[B\r');
    await terminal.shows(/Tasks that worker worker-\d+ holds[\s\S]*LEASED/);
    terminal.press('t999999\r');
    await terminal.shows(/unknown_task/);
    terminal.press('t2\r');
    await terminal.shows(/explain T2: lines/);
    terminal.press('\u0003');
    expect(await terminal.ended()).to.equal('0 icanon');
  });

  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    it(`gives the terminal back at ${signal}`, async () => {
      const terminal = top();
      await terminal.shows(/queues by/);
      await terminal.signal(signal);
      expect(await terminal.ended())
        .to.match(/^1\d\d .*icanon$/)
        .and.not.to.include('-icanon');
      expect(terminal.written).to.include(LEAVE);
    });
  }

  it('prints the page once where there is no terminal', async () => {
    const ran = await stage.run(['top']);
    expect(ran).to.include({ code: 0, err: '' });
    expect(ran.out.split('\n').length).to.be.at.most(23);
    expect(ran.out)
      .to.match(/busy +2/)
      .and.to.include('worker-11');
    expect(ran.out).not.to.include('\u001b');
    const { queues } = JSON.parse((await stage.run(['top', '--json'])).out) as { queues: Fields };
    expect((queues['queues'] as Fields[])[0]).to.include({ queue: 'busy' });
    const gone = await stage.run(['top', '--url', 'http://127.0.0.1:9']);
    expect(gone).to.include({ code: 3 });
  });

  it('survives kill -9 of the server, and says so', async () => {
    const terminal = top();
    await terminal.shows(/^> busy/m);
    await server.destroy();
    await terminal.shows(/no answer for \S+; trying again/);
    await stage.serve().ready();
    const back = await terminal.shows(/the server was started again \(record \d+\)/);
    expect(back.join('\n')).to.match(/busy +2 +0 .* never/);
    terminal.press('q');
    expect(await terminal.ended()).to.equal('0 icanon');
  });
});
