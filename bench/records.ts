// Owns the work that benches without a server do: lifecycles of 100-byte payloads through a real
// coordinator, on whatever log it is given, and the knobs of a server with default settings.

import { createHash } from 'node:crypto';
import { digestOf } from '../src/core/digest-index.ts';
import type { Log } from '../src/log/log.ts';
import { Coordinator } from '../src/loop/coordinator.ts';
import type { CoordinatorOptions } from '../src/loop/loop-options.ts';
import type { CoreKnobs } from '../src/model/knobs.ts';
import type { Response } from '../src/model/response.ts';
import { Watch } from './checked.ts';

export const PAYLOAD = 'x'.repeat(100);
export const PAYLOAD_BYTES = new TextEncoder().encode(PAYLOAD);

export const KNOBS: CoreKnobs = {
  leaseDurationMs: 30_000,
  heartbeatIntervalMs: 10_000,
  executionWindowMs: 3_600_000,
  maxRetries: 3,
  backoffMs: 30_000,
  backoffFactor: 1,
  poisonThreshold: 10,
  retentionMs: 7 * 86_400_000,
  retentionFailedMs: 90 * 86_400_000,
  answerMaxBytes: 16 * 2 ** 20,
};

export const digestText = (text: string): ReturnType<typeof digestOf> =>
  digestOf(createHash('sha256').update(text).digest());

const clock = { wall: () => Date.now(), monotonic: () => performance.now() };

/** A coordinator whose answers go to one function; ready to take requests. */
export async function startCoordinator(
  log: Log,
  onAnswer: (response: Response) => void,
  more: Partial<CoordinatorOptions> = {},
): Promise<Coordinator> {
  const coordinator = new Coordinator({
    log,
    knobs: KNOBS,
    clock,
    digestText,
    events: {
      answer: (_, response) => onAnswer(response),
      durable: () => watch.durable(),
      mode: () => {},
      fatal: (error) => {
        throw error;
      },
    },
    ...more,
  });
  const watch = new Watch(coordinator);
  const stop = coordinator.stop.bind(coordinator);
  coordinator.stop = async () => {
    await stop();
    watch.end(log, { digestText });
  };
  await coordinator.start();
  return coordinator;
}

const SUBMIT = {
  op: 'submit',
  queue: 'default',
  payload: PAYLOAD_BYTES,
  requestId: undefined,
  contentHash: undefined,
  executionWindowMs: undefined,
  maxRetries: undefined,
  backoffMs: undefined,
  backoffFactor: undefined,
  backoffMaxMs: undefined,
  delayMs: undefined,
  metadata: undefined,
} as const;

/** @param requestId makes each task remember one. */
export const submit = (requestId?: string) => ({
  ...SUBMIT,
  requestId,
  contentHash: requestId === undefined ? undefined : PAYLOAD_BYTES.subarray(0, 16),
});

export const lease = (max = 1) =>
  ({
    op: 'lease',
    workerId: 'worker-1',
    queues: ['default'],
    max,
    waitMs: 0,
    capacity: undefined,
    base64: false,
  }) as const;

export const complete = (taskId: number, leaseId: number) =>
  ({ op: 'complete', taskId, leaseId, result: undefined }) as const;

/** Submits, and where asked leases and completes, in groups; the log holds it when it resolves. */
export async function writeTasks(
  log: Log,
  tasks: number,
  how: { readonly finished?: boolean; readonly requestIds?: boolean; readonly group?: number },
): Promise<void> {
  const group = how.group ?? 4_096;
  const leased: { taskId: number; leaseId: number }[] = [];
  const coordinator = await startCoordinator(log, (response) => {
    if (response.kind === 'leased') leased.push(...response.leases);
  });
  for (let done = 0; done < tasks; done += group) {
    const count = Math.min(group, tasks - done);
    for (let task = 0; task < count; task += 1) {
      coordinator.take(1, submit(how.requestIds ? `request-${done + task}` : undefined));
    }
    await settle(coordinator);
    if (!how.finished) continue;
    for (let task = 0; task < count; task += 1) coordinator.take(1, lease());
    await settle(coordinator);
    for (const { taskId, leaseId } of leased) coordinator.take(1, complete(taskId, leaseId));
    leased.length = 0;
    await settle(coordinator);
  }
  await coordinator.stop();
}

export async function settle(coordinator: Coordinator): Promise<void> {
  coordinator.flush();
  await coordinator.settled();
}
