// Owns the suite that holds a store to what it promises besides, when writers on several machines
// may take it over from one another: that a writer can be told whether it still is the writer.

import { expect } from 'chai';
import { type Log, LogError } from '../../src/log/log.ts';
import type { Device } from './contract.ts';
import { created, group, started } from './records.ts';

/** What a store promises besides that several machines may write to. */
export function confirmsItsWriter(name: string, makeDevice: () => Promise<Device>): void {
  describe(`the confirmation of a writer: ${name}`, () => {
    let device: Device;
    beforeEach(async () => {
      device = await makeDevice();
    });
    afterEach(() => device.remove());

    async function led(): Promise<Log> {
      const log = await device.open();
      expect(await log.start(started(1))).to.equal('durable');
      return log;
    }

    it('says that it leads, before and after its appends, and writes nothing', async () => {
      const log = await led();
      expect(await log.confirm?.()).to.equal('durable');
      expect(await log.append(group(2, 3))).to.equal('durable');
      expect(await log.confirm?.()).to.equal('durable');
      expect([...log.read(1)].map(({ seq }) => seq)).to.deep.equal([1, 2, 3]);
    });

    it('waits for the appends before it', async () => {
      const log = await led();
      const order: string[] = [];
      const told = async (what: string, result: unknown): Promise<void> => {
        await result;
        order.push(what);
      };
      const appended = told('append', log.append(group(2, 3)));
      await Promise.all([told('confirm', log.confirm?.()), appended]);
      expect(order).to.deep.equal(['append', 'confirm']);
    });

    it('tells a writer that was deposed without knowing it, and for good', async () => {
      const deposed = await led();
      const next = await device.open();
      expect(await next.start(started(2))).to.equal('durable');
      expect(await next.confirm?.()).to.equal('durable');
      expect(await deposed.confirm?.()).to.equal('fenced');
      expect(await deposed.confirm?.()).to.equal('fenced');
      expect(await deposed.append([created(2, 'stale')])).to.equal('fenced');
      const told = await deposed.reopen().catch((error: unknown) => error);
      expect(told).to.be.instanceOf(LogError).with.property('code', 'LOG_FENCED');
      expect(await next.append([created(3)])).to.equal('durable');
    });

    it('is not answered by a confirmation that began before', async () => {
      const deposed = await led();
      const next = await device.open();
      const before = deposed.confirm?.();
      expect(await next.start(started(2))).to.equal('durable');
      // The earlier one may have been answered before the start; the later one may not.
      expect(await deposed.confirm?.()).to.equal('fenced');
      expect(await before).to.be.oneOf(['durable', 'fenced']);
    });

    it('changes nothing when the answer is not known', async () => {
      const log = await led();
      device.failNext(log);
      expect(await log.confirm?.()).to.equal('failed');
      expect(await log.confirm?.()).to.equal('durable');
      expect(await log.append(group(2, 3))).to.equal('durable');
    });

    it('is not known after a failed append, until the log was opened again', async () => {
      const log = await led();
      device.failNext(log);
      expect(await log.append(group(2, 3))).to.equal('failed');
      expect(await log.confirm?.()).to.equal('failed');
      await log.reopen();
      expect(await log.confirm?.()).to.equal('durable');
    });
  });
}
