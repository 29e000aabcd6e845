// Shows that whoever asks through the gate gets exactly one answer, whatever becomes of the
// coordinator. What the transports do with it is shown in their own tests.

import { expect } from 'chai';
import { Asker, Gate } from '../../actors/ingress/gate.ts';
import { Progress } from '../../actors/shared/progress.ts';
import type { Request } from '../../src/model/request.ts';
import type { Answer } from '../../src/protocol/answer-frame.ts';
import { turns } from '../mailbox/support.ts';
import { FakeCoordinator, until } from './http-support.ts';

const stats: Request = { op: 'stats' };

class Hearing extends Asker {
  readonly #reasons: unknown[];

  constructor(reasons: unknown[]) {
    super();
    this.#reasons = reasons;
  }

  answered({ text }: Answer): void {
    this.#reasons.push(JSON.parse(text).reason);
  }
}

function setUp(openMax = 10) {
  const progress = new Progress(Progress.share());
  progress.phase = 'ready';
  const coordinator = new FakeCoordinator(() => undefined);
  const gate = new Gate(progress, openMax);
  const reasons: unknown[] = [];
  const ask = () => gate.ask(stats, new Hearing(reasons));
  return { progress, coordinator, gate, reasons, ask };
}

describe('the gate', () => {
  it('refuses as recovering before it is connected', () => {
    const { ask, reasons } = setUp();
    expect(ask()).to.equal(0);
    expect(reasons).to.deep.equal(['recovering']);
  });

  it('refuses when too many are open, at once', () => {
    const { ask, gate, coordinator, reasons } = setUp(2);
    gate.connect(coordinator.connect('a'));
    expect([ask(), ask(), ask()]).to.satisfy((tickets: number[]) => tickets[2] === 0);
    expect(reasons).to.deep.equal(['mailbox_full']);
    gate.close();
  });

  it('answers what is open when the coordinator dies, and goes on with another one', async () => {
    const { ask, gate, coordinator, reasons } = setUp();
    gate.connect(coordinator.connect('a'));
    ask();
    ask();
    coordinator.die();
    await until(() => reasons.length === 2, 'both were answered');
    expect(reasons).to.deep.equal(['log_unavailable', 'log_unavailable']);
    ask();
    expect(reasons[2]).to.equal('recovering');
    const next = new FakeCoordinator(() => ({ kind: 'overview', body: { reason: 'none' } }));
    gate.connect(next.connect('a'));
    ask();
    await until(() => reasons.length === 4, 'the new one answered');
    expect(reasons[3]).to.equal('none');
    gate.close();
  });

  it('answers what is open when the log stalls, and refuses until it goes on', async () => {
    const { ask, gate, coordinator, progress, reasons } = setUp();
    gate.connect(coordinator.connect('a'));
    ask();
    ask();
    progress.stalled = true;
    ask();
    expect(reasons).to.deep.equal(['log_unavailable']);
    await until(() => reasons.length === 3, 'both were answered');
    expect(reasons).to.deep.equal(['log_unavailable', 'log_unavailable', 'log_unavailable']);
    expect(gate.open).to.equal(0);
    progress.stalled = false;
    ask();
    expect(gate.open).to.equal(1);
    // What was given up is withdrawn: if it was parked, it grants nothing to nobody.
    await until(() => coordinator.withdrawn.length === 2, 'the coordinator was told');
    gate.close();
  });

  it('answers what is open on a connection when it gets another one', async () => {
    const { ask, gate, coordinator, reasons } = setUp();
    gate.connect(coordinator.connect('a'));
    ask();
    gate.connect(new FakeCoordinator(() => undefined).connect('a'));
    await until(() => reasons.length === 1, 'the earlier one was answered');
    expect(reasons).to.deep.equal(['log_unavailable']);
    ask();
    expect(gate.open).to.equal(1);
    gate.close();
    expect(reasons).to.deep.equal(['log_unavailable', 'log_unavailable']);
  });

  it('says that the process stops when that is why nobody is there', async () => {
    const { ask, gate, coordinator, progress, reasons } = setUp();
    progress.stopping();
    ask();
    expect(reasons).to.deep.equal(['shutting_down']);
    gate.connect(coordinator.connect('a'));
    ask();
    coordinator.die();
    await turns();
    ask();
    expect(reasons).to.deep.equal(['shutting_down', 'shutting_down', 'shutting_down']);
    gate.close();
  });

  it('answers everything when it is closed, and nothing twice', async () => {
    const { ask, gate, coordinator, reasons } = setUp();
    gate.connect(coordinator.connect('a'));
    ask();
    gate.close();
    ask();
    expect(reasons).to.deep.equal(['log_unavailable', 'shutting_down']);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(reasons).to.have.length(2);
  });

  it('does not answer a withdrawn request', async () => {
    const { ask, gate, coordinator, reasons } = setUp();
    gate.connect(coordinator.connect('a'));
    const ticket = ask();
    await until(() => coordinator.asked.length === 1, 'it was asked');
    gate.withdraw(ticket);
    coordinator.answer(ticket, { kind: 'overview', body: {} });
    await until(() => coordinator.withdrawn.length === 1, 'it was withdrawn');
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(reasons).to.deep.equal([]);
    expect(gate.open).to.equal(0);
    gate.close();
  });

  it('refuses new requests when stopping, and still answers open ones', async () => {
    const { ask, gate, coordinator, reasons } = setUp();
    gate.connect(coordinator.connect('a'));
    const ticket = ask();
    gate.refuseNew();
    ask();
    expect(reasons).to.deep.equal(['shutting_down']);
    await until(() => coordinator.asked.length === 1, 'it was asked');
    coordinator.answer(ticket, { kind: 'overview', body: { reason: 'none' } });
    await until(() => reasons.length === 2, 'the open one was answered');
    gate.close();
  });
});
