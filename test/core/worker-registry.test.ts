// What is believed of workers: soft, bounded, and never dropped while a lease is held.

import { expect } from 'chai';
import { Leases } from '../../src/core/leases.ts';
import { WorkerRegistry } from '../../src/core/worker-registry.ts';

const SILENT_MS = 15 * 60_000;

function holding(...workers: string[]): Leases {
  const leases = new Leases();
  for (const [index, workerId] of workers.entries()) {
    const leaseId = index + 1;
    const numbers = { taskId: 1, row: 1, attempt: 1, grantedAt: 0, deadline: 9, expiry: 9 };
    leases.add({ ...numbers, leaseId, workerId, extensions: 0, lastExtension: 0, place: 0 });
  }
  return leases;
}

const names = (registry: WorkerRegistry): string[] =>
  [...registry.all()].map(({ workerId }) => workerId).reverse();

describe('worker registry', () => {
  it('keeps them in the order in which they were heard of, and keeps a declared capacity', () => {
    const registry = new WorkerRegistry();
    registry.seen('a', 1, 4);
    registry.seen('b', 2);
    registry.seen('a', 3);
    expect([...registry.all()]).to.deep.equal([
      { workerId: 'b', lastSeenAt: 2, capacity: undefined },
      { workerId: 'a', lastSeenAt: 3, capacity: 4 },
    ]);
    registry.seen('a', 4, 2);
    expect([...registry.all()].at(-1)).to.deep.equal({ workerId: 'a', lastSeenAt: 4, capacity: 2 });
    expect([registry.has('a'), registry.has('c')]).to.deep.equal([true, false]);
  });

  it('drops who was silent for 15 minutes and holds no lease', () => {
    const registry = new WorkerRegistry();
    const leases = holding('holder');
    for (const [at, name] of ['holder', 'silent', 'heard'].entries()) registry.seen(name, at);
    registry.seen('heard', 2);
    registry.sweep(SILENT_MS, leases);
    expect(names(registry)).to.deep.equal(['heard', 'silent', 'holder']);
    registry.sweep(SILENT_MS + 1, leases);
    expect(names(registry)).to.deep.equal(['heard', 'holder']);
    registry.sweep(SILENT_MS + 2, holding());
    expect(names(registry)).to.deep.equal([]);
  });

  it('keeps 100 000 of them, the most silent go', () => {
    const registry = new WorkerRegistry();
    for (let n = 0; n < 100_000; n += 1) registry.seen(`w${n}`, n);
    registry.seen('w0', 100_000);
    registry.seen('one more', 100_001);
    expect(registry.size).to.equal(100_000);
    expect(names(registry).slice(0, 2)).to.deep.equal(['one more', 'w0']);
    expect(registry.has('w1')).to.equal(false);
  });

  it('gives room up to a declared capacity, and any to who declares none', () => {
    const registry = new WorkerRegistry();
    const leases = holding('a', 'a', 'b');
    expect(registry.roomFor('a', 3, leases)).to.equal(1);
    expect(registry.roomFor('a', 1, leases)).to.be.below(1);
    expect(registry.roomFor('c', 3, leases)).to.equal(3);
    expect(registry.roomFor('a', undefined, leases)).to.equal(Number.POSITIVE_INFINITY);
  });
});
