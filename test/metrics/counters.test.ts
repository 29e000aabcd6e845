// Recomputes every counter from the log alone and compares it with what the metrics show, while the
// loop runs through a random story, and again after a restart.

import { expect } from 'chai';
import fc from 'fast-check';
import { type CoordinatorFigures, metricsText } from '../../src/metrics/metrics-text.ts';
import type { LogRecord } from '../../src/model/records.ts';
import type { Overview } from '../../src/model/response.ts';
import { leaseRequest, World } from '../support/world.ts';
import { samplesOf, valueOf } from './exposition.ts';

/** The counters as the requirements say them, from the records and nothing else. */
function recount(records: readonly LogRecord[]): Record<string, number> {
  const count = (type: LogRecord['type']): number =>
    records.filter((record) => record.type === type).length;
  const lastEnd = new Map<number, LogRecord>();
  let duplicates = 0;
  let retries = 0;
  let held = 0;
  for (const record of records) {
    if (record.type === 'LeaseGranted') {
      const end = lastEnd.get(record.taskId);
      if (end?.type === 'LeaseExpired') duplicates += 1;
      if (end?.type === 'TaskFailed' && end.kind !== 'released') retries += 1;
      lastEnd.set(record.taskId, record);
      held += 1;
    }
    if ('leaseId' in record && 'extensions' in record) {
      lastEnd.set(record.taskId, record);
      held -= 1;
    }
    if (record.type === 'TaskDead' && lastEnd.get(record.taskId)?.type === 'LeaseGranted')
      held -= 1;
  }
  return {
    leasehold_lease_expirations_total: count('LeaseExpired'),
    leasehold_late_reports_total: count('TaskCancelled'),
    leasehold_duplicate_executions_total: duplicates,
    leasehold_retries_total: retries,
    leasehold_coordinator_restarts_total: count('CoordinatorStarted') - 1,
    leasehold_log_last_sequence: records.at(-1)?.seq ?? 0,
    leasehold_leases_active: held,
  };
}

function recountTasks(records: readonly LogRecord[]): Record<string, number> {
  const states = new Map<number, string>();
  for (const record of records) {
    if (record.type === 'TaskCreated') states.set(record.seq, 'WAITING');
    if (record.type === 'LeaseGranted') states.set(record.taskId, 'LEASED');
    if (record.type === 'LeaseExpired') states.set(record.taskId, 'WAITING');
    if (record.type === 'TaskCompleted') states.set(record.taskId, 'COMPLETED');
    if (record.type === 'TaskDead') states.set(record.taskId, 'DEAD');
    if (record.type === 'TaskFailed') {
      states.set(record.taskId, record.retryAt === undefined ? 'FAILED' : 'WAITING');
    }
  }
  const counts: Record<string, number> = {};
  for (const state of ['WAITING', 'LEASED', 'COMPLETED', 'FAILED', 'DEAD']) {
    counts[state] = [...states.values()].filter((one) => one === state).length;
  }
  return counts;
}

async function compare(world: World): Promise<string> {
  const { body } = (await world.ask({ op: 'metrics' })) as Overview;
  const text = metricsText(body as unknown as CoordinatorFigures, []);
  const samples = samplesOf(text);
  const records = world.records();
  for (const [name, value] of Object.entries(recount(records))) {
    expect(valueOf(samples, name), name).equal(value);
  }
  for (const [state, value] of Object.entries(recountTasks(records))) {
    expect(valueOf(samples, 'leasehold_tasks', { state }), state).equal(value);
  }
  return text;
}

const step = fc.tuple(fc.nat({ max: 9 }), fc.nat({ max: 20 }));

describe('counters', () => {
  it('are what the log says, at any moment and after a restart', async function () {
    this.timeout(180_000);
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 120 }), async (steps) => {
        const world = await World.started({ maxRetries: 1, poisonThreshold: 4 });
        const leases: { taskId: number; leaseId: number }[] = [];
        for (const [what, which] of steps) await act(world, leases, what, which);
        await compare(world);
        const before = recount(world.records());
        await world.restart();
        await compare(world);
        const after = recount(world.records());
        expect(after['leasehold_coordinator_restarts_total']).equal(
          (before['leasehold_coordinator_restarts_total'] ?? 0) + 1,
        );
      }),
      { numRuns: 20 },
    );
  });
});

async function act(
  world: World,
  leases: { taskId: number; leaseId: number }[],
  what: number,
  which: number,
): Promise<void> {
  const held = leases[which % Math.max(1, leases.length)];
  if (what < 2 || held === undefined) await world.submit({ queue: which % 2 ? 'a' : 'b' });
  if (what === 2 || what === 3 || held === undefined) {
    const answer = await world.ask(leaseRequest({ queues: ['a', 'b'], max: 1 + (which % 3) }));
    if (answer?.kind === 'leased') leases.push(...answer.leases);
    return;
  }
  if (what === 4) await world.complete(held);
  if (what === 5) await world.fail(held, { kind: which % 3 ? 'error' : 'released' });
  if (what === 6) await world.heartbeat(held);
  if (what === 7) await world.ask({ op: 'kill', taskId: held.taskId, reason: 'enough' });
  if (what === 8) world.time += which * 1_000;
  if (what === 9) await world.tick();
}
