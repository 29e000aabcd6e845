// `run({ signals: true })`: what a signal asks for, and that nothing is left in hand by it.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { onStopSignals, StopWishes } from '../../src/client/stop-signals.ts';
import { Client } from '../../src/index.ts';
import { untilEchoed } from '../support/echoes.ts';
import { sharedServer } from './real-server.ts';

const CHILD = fileURLToPath(new URL('./handlers/signal-worker.js', import.meta.url));

describe('signals', () => {
  it('of one Ctrl-C are one wish, however often they arrive within half a second', () => {
    const wishes = new StopWishes();
    const taken = [0, 100, 499, 500, 900, 1_001].map((atMs) => wishes.take('SIGINT', atMs));
    const echo = undefined;
    expect(taken).to.deep.equal(['first', echo, echo, 'again', echo, 'again']);
  });

  it('that differ, or come from a supervisor, are each a wish', () => {
    const wishes = new StopWishes();
    expect(wishes.take('SIGINT', 0)).to.equal('first');
    expect(wishes.take('SIGTERM', 1)).to.equal('again');
    expect(wishes.take('SIGTERM', 2)).to.equal('again');
  });

  it('have one listener, however many workers there are', () => {
    const before = process.listenerCount('SIGHUP');
    const told: string[] = [];
    const listen = () => onStopSignals((wish, signal) => told.push(`${wish} ${signal}`));
    const ends = Array.from({ length: 15 }, listen);
    expect(process.listenerCount('SIGHUP')).to.equal(before + 1);
    process.emit('SIGHUP', 'SIGHUP');
    expect(told).to.deep.equal(Array(15).fill('first SIGHUP'));
    for (const end of ends) end();
    expect(process.listenerCount('SIGHUP')).to.equal(before);
  });

  describe('at a worker', () => {
    const server = sharedServer('--backoff-ms', '0');
    let client: Client;
    before(() => {
      client = new Client({ url: server.tcp });
    });
    after(() => client.close());

    /** @returns a process that has a task in hand; it is done when its standard input ends. */
    const begun = async (queue: string, ...tells: string[]) => {
      const { taskId } = await client.submit({ payload: 'x', queue });
      const stdio: ['pipe', 'pipe', 'inherit'] = ['pipe', 'pipe', 'inherit'];
      const child = spawn(process.execPath, [CHILD, server.tcp, queue, ...tells], { stdio });
      let said = '';
      child.stdout.on('data', (text) => {
        said += text;
      });
      const exit = once(child, 'close').then(([code, signal]) => ({ code, signal, said }));
      while (!said.includes('began')) await once(child.stdout, 'data');
      return { taskId, child, exit };
    };

    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const) {
      it(`let what is in hand be done: ${signal}`, async () => {
        const { taskId, child, exit } = await begun(signal);
        await client.submit({ payload: 'not begun', queue: signal });
        child.kill(signal);
        child.stdin.end();
        expect(await exit).to.deep.equal({
          code: 0,
          signal: null,
          said: 'began\nended after 1, 0 listeners left\n',
        });
        expect(await client.task(taskId)).to.include({ state: 'COMPLETED' });
      });
    }

    it('give it back at once when they come again', async () => {
      const { taskId, child, exit } = await begun('again');
      child.kill('SIGTERM');
      child.kill('SIGINT');
      await exit;
      expect(await client.task(taskId)).to.include({ state: 'WAITING', failures: 0 });
    });

    it('that are echoes do not', async () => {
      const { task } = await untilEchoed(async (round) => {
        const { taskId, child, exit } = await begun(`echo-${round}`, 'tells');
        child.kill('SIGINT');
        await pause(5);
        child.kill('SIGINT');
        child.stdin.end();
        const { said } = await exit;
        return { said, task: await client.task(taskId) };
      });
      expect(task).to.include({ state: 'COMPLETED' });
    });
  });
});
