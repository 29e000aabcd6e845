// How often one request looks its task, its lease and its request id up on its way through the
// loop: once each, because every later step is handed what was found.

import { expect } from 'chai';
import type { Request } from '../../src/model/request.ts';
import { leaseRequest, World } from '../support/world.ts';

interface Looked {
  tasks: number;
  leases: number;
  digests: number;
}

/** Counts what one request looks up in the state, until its answer is there. */
async function looked(world: World, request: Request): Promise<Looked> {
  const { state } = world.loop.view;
  const count: Looked = { tasks: 0, leases: 0, digests: 0 };
  const counted = <T extends object>(of: T, method: keyof T, which: keyof Looked): (() => void) => {
    const own = Object.getOwnPropertyDescriptor(of, method);
    const real = of[method] as (this: T, ...args: unknown[]) => unknown;
    Object.defineProperty(of, method, {
      configurable: true,
      value(this: T, ...args: unknown[]) {
        count[which] += 1;
        return real.apply(of, args);
      },
    });
    return () => {
      Reflect.deleteProperty(of, method);
      if (own !== undefined) Object.defineProperty(of, method, own);
    };
  };
  const restore = [
    counted(state.tasks, 'find', 'tasks'),
    counted(state.leases, 'get', 'leases'),
    counted(state as unknown as { digestText: () => unknown }, 'digestText', 'digests'),
  ];
  await world.ask(request);
  for (const back of restore) back();
  return count;
}

const SUBMIT: Request = { op: 'submit', queue: 'default', payload: new Uint8Array(2) };
const WITH_ID: Request = { ...SUBMIT, requestId: 'r1', contentHash: new Uint8Array(16) };

describe('one request looks up', () => {
  let world: World;
  let held: { taskId: number; leaseId: number };

  beforeEach(async () => {
    world = await World.started();
    await world.submit();
    const { taskId, leaseId } = await world.lease();
    held = { taskId, leaseId };
  });

  const nothing: Looked = { tasks: 0, leases: 0, digests: 0 };
  const itsTask: Looked = { ...nothing, tasks: 1 };
  const both: Looked = { ...itsTask, leases: 1 };

  it('nothing for a submit, but the digest of its request id', async () => {
    expect(await looked(world, SUBMIT)).to.deep.equal(nothing);
    expect(await looked(world, WITH_ID)).to.deep.equal({ ...nothing, digests: 1 });
    expect(await looked(world, WITH_ID), 'again').to.deep.equal({ ...nothing, digests: 1 });
  });

  it('nothing for a lease request: the queue has the row', async () => {
    await world.submit();
    expect(await looked(world, leaseRequest())).to.deep.equal(nothing);
  });

  const fail = { reason: 'no luck', kind: 'error' } as const;
  const OF_HOLDER: Record<string, (named: typeof held) => Request> = {
    heartbeat: (named) => ({ op: 'heartbeat', ...named }),
    complete: (named) => ({ op: 'complete', ...named }),
    fail: (named) => ({ op: 'fail', ...named, ...fail }),
    kill: ({ taskId }) => ({ op: 'kill', taskId, reason: 'r' }),
  };
  for (const [name, of] of Object.entries(OF_HOLDER)) {
    it(`its task and its lease once for a ${name}`, async () => {
      world.time += 10;
      const before = world.types().length;
      expect(await looked(world, of(held))).to.deep.equal(both);
      expect(world.types()).to.have.length(before + 1);
    });
  }

  it('its task once for a report that comes too late, and the lease in vain', async () => {
    world.time += 10_000;
    await world.tick();
    expect(await looked(world, { op: 'complete', ...held })).to.deep.equal(both);
    expect(world.types().at(-1)).to.equal('TaskCancelled');
  });

  it('its task once also where its lease is expired just before', async () => {
    world.time += 10_000;
    expect(await looked(world, { op: 'complete', ...held })).to.deep.equal(both);
    expect(world.types().slice(-2)).to.deep.equal(['LeaseExpired', 'TaskCancelled']);
  });

  it('its task once for a redrive', async () => {
    await world.ask({ op: 'kill', taskId: held.taskId, reason: 'r' });
    const redrive: Request = { op: 'redrive', taskId: held.taskId };
    expect(await looked(world, redrive)).to.deep.equal(itsTask);
    expect(world.types().at(-1)).to.equal('TaskCreated');
  });
});
