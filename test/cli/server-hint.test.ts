// How a command finds the node that leads, and what it says when it is not given that node.

import { expect } from 'chai';
import type { Io } from '../../src/cli/command.ts';
import { Server } from '../../src/cli/server.ts';
import { type ScriptedServer, scriptedServer } from '../client/scripted-server.ts';

describe('a command that meets a node which follows', () => {
  const servers: ScriptedServer[] = [];
  afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));

  async function stage(count: number) {
    for (let n = 0; n < count; n += 1) {
      servers.push(await scriptedServer('http', () => ({ served_by: n })));
    }
    let said = '';
    const stderr = { write: (text: string) => (said += text), isTTY: false };
    const io = { env: {}, stderr } as unknown as Io;
    const url = servers.map((one) => one.url).join();
    return { server: new Server({ url }, io), said: () => said };
  }
  const follows = (leader?: string) => ({
    outcome: 'UNAVAILABLE',
    reason: 'not_leader',
    detail: 'This node follows.',
    record: null,
    ...(leader === undefined ? {} : { leader }),
  });
  const at = (index: number): ScriptedServer => servers[index] as ScriptedServer;

  it('goes to the one that leads, and says nothing of it', async () => {
    const { server, said } = await stage(3);
    at(0).script = () => follows(at(2).url);
    expect((await server.ask('stats', {})).body).to.deep.equal({ served_by: 2 });
    expect(at(1).asked).to.deep.equal([]);
    expect(said()).to.equal('');
    server.close();
  });

  it('asks the next one where none is named', async () => {
    const { server } = await stage(2);
    at(0).script = () => follows();
    expect((await server.ask('stats', {})).body).to.deep.equal({ served_by: 1 });
    server.close();
  });

  it('does not wait for a node that follows when it knows no other', async () => {
    const { server } = await stage(1);
    at(0).script = () => follows('http://elsewhere:5327');
    expect((await server.ask('stats', {})).body).to.include({ reason: 'not_leader' });
    expect(at(0).asked).to.have.length(1);
    server.close();
  });
});
