// Owns the ticks: at each interval one empty message into the mailbox, unless the last one is not
// answered yet. A tick carries no time: the coordinator decides by its own clock what is due.

import type { MessagePort } from 'node:worker_threads';
import type { MailboxEnd } from '../../src/mailbox/mailbox.ts';
import { Producer } from '../../src/mailbox/producer.ts';
import type { ProducerControl } from '../shared/control.ts';
import { serveControl } from '../shared/control-port.ts';
import { watchLag } from '../shared/event-loop-lag.ts';
import { answerFigures } from '../shared/gathered-figures.ts';

export interface TimerData {
  readonly control: MessagePort;
  readonly tickMs: number;
}

const TICK = new Uint8Array(0);
const TICKET = 1;

/** The pool's task; resolves after stop. */
export default function timer({ control, tickMs }: TimerData): Promise<void> {
  return new Promise((resolve) => {
    const lag = watchLag('timer');
    let producer: Producer<undefined> | undefined;
    let reader: MessagePort | undefined;
    let interval: NodeJS.Timeout | undefined;
    const rest = (): void => clearInterval(interval);
    const actor: ProducerControl = {
      connect(end: MailboxEnd) {
        producer?.close();
        producer = new Producer(end, { onReply: () => {}, onDeath: () => {} });
      },
      connectReader(port: MessagePort) {
        reader?.close();
        reader = port;
        answerFigures(port, () => ({ ...lag.figures(), requests: [] }));
      },
      start() {
        rest();
        interval = setInterval(() => {
          if (producer?.openTickets === 0) producer.offer(TICKET, 'request', TICK, undefined);
        }, tickMs);
        return { ok: true };
      },
      quiesce: rest,
      stop() {
        rest();
        producer?.close();
        reader?.close();
        lag.stop();
        setImmediate(resolve);
      },
    };
    serveControl(control, actor);
  });
}
