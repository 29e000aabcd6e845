// Holds the points to their promise: what nobody asked for passes, what is held waits, and nothing
// waits for ever once the points are cleared.

import { expect } from 'chai';
import { type Arrival, type Point, Points } from '../../src/rehearse/points.ts';

const at = (point: Point, worker = 1): Arrival => ({
  point,
  worker,
  taskId: 'T2',
  leaseId: 'L3',
});

describe('the points of a rehearsal', () => {
  it('let everything pass that nobody asked for', async () => {
    expect(await new Points().reach(at('report'))).to.equal('pass');
  });

  it('hold one message until it is told what becomes of it', async () => {
    const points = new Points();
    const holding = points.hold('report');
    let fate: string | undefined;
    const reached = points.reach(at('report')).then((decided) => (fate = decided));
    const held = await holding;
    expect(held).to.include({ point: 'report', taskId: 'T2', leaseId: 'L3' });
    expect(fate).to.equal(undefined);
    held.let('lose');
    await reached;
    expect(fate).to.equal('lose');
    expect(await points.reach(at('report'))).to.equal('pass');
  });

  it('hold only what is wanted', async () => {
    const points = new Points();
    const holding = points.hold('grant', ({ worker }) => worker === 2);
    expect(await points.reach(at('grant', 1))).to.equal('pass');
    expect(await points.reach(at('lease', 2))).to.equal('pass');
    const reached = points.reach(at('grant', 2));
    (await holding).let('cut');
    expect(await reached).to.equal('cut');
  });

  it('give every message the same fate until that is ended', async () => {
    const points = new Points();
    const end = points.always('heartbeat', 'lose');
    expect(await points.reach(at('heartbeat'))).to.equal('lose');
    expect(await points.reach(at('heartbeat'))).to.equal('lose');
    end();
    expect(await points.reach(at('heartbeat'))).to.equal('pass');
  });

  it('let go of everything when they are cleared', async () => {
    const points = new Points();
    const holding = points.hold('effect');
    const reached = points.reach(at('effect'));
    await holding;
    points.always('report', 'lose');
    points.clear();
    expect(await reached).to.equal('pass');
    expect(await points.reach(at('report'))).to.equal('pass');
  });
});
