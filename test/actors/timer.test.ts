// The timer in its thread: ticks come, and one at most is waiting for the coordinator.

import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { ProducerControl } from '../../actors/shared/control.ts';
import { moved } from '../../actors/shared/control-port.ts';
import { ActorPool } from '../../actors/supervisor/pool.ts';
import { Consumer, type Peer } from '../../src/mailbox/consumer.ts';
import { createMailbox } from '../../src/mailbox/mailbox.ts';

const FILE = fileURLToPath(new URL('../../actors/timer/timer.js', import.meta.url));

describe('the timer', () => {
  it('posts a tick only when the last one was answered', async () => {
    const pool = new ActorPool(1);
    const mailbox = createMailbox({ maxRequests: 8, maxBytes: 1_024 });
    const { producer, consumer: end } = mailbox.connect('timer', { exempt: true });
    const ticks: { from: Peer; ticket: number; bytes: number }[] = [];
    const consumer = new Consumer(() => {
      consumer.drain(100, 100_000, {
        take: (from, ticket, _kind, message) => {
          ticks.push({ from, ticket, bytes: message.to - message.from });
        },
        gone: () => {},
      });
    });
    consumer.add(end);
    const timer = pool.start<ProducerControl>({ name: 'timer', file: FILE, data: { tickMs: 2 } });
    try {
      await timer.control.call((remote) => remote.connect(moved(producer, [producer.port])));
      await timer.control.call((remote) => remote.start());
      // Long enough for many ticks: this waits for what must not happen.
      await pause(100);
      expect(ticks.map(({ bytes }) => bytes)).to.deep.equal([0]);
      expect(mailbox.depth().requests).to.equal(0);
      for (let answered = 0; answered < 5; answered++) {
        const { from, ticket } = ticks[answered] as (typeof ticks)[0];
        consumer.reply(from, ticket, new Uint8Array(0));
        while (ticks.length < answered + 2) await pause(1);
      }
      await timer.control.call((remote) => remote.stop()).catch(() => {});
      expect(await timer.over).to.equal(undefined);
    } finally {
      consumer.close();
      await pool.destroy();
    }
  });
});
