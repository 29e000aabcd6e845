// The coordinator's loop without a device: what one request costs in processor time, for each verb,
// in groups of 256; and the same with the bytes of the mailbox decoded and the answers' texts made.

import { BatchWriter } from '../src/mailbox/frame.ts';
import type { Request } from '../src/model/request.ts';
import { writeAnswer } from '../src/protocol/answer-frame.ts';
import { decodeRequest, encodeRequest } from '../src/protocol/request-codec.ts';
import { type Bench, interleaved, type Row, rowOf } from './harness.ts';
import { KeptLog } from './kept-log.ts';
import { complete, lease, settle, startCoordinator, submit } from './records.ts';

const TASKS = 100_000;
const GROUP = 256;

type Verb = 'submit' | 'submit with a request id' | 'lease' | 'heartbeat' | 'complete' | 'read';
type CostUs = Record<Verb, number>;

const answers = new BatchWriter(() => {});

async function costs(withBytes: boolean): Promise<CostUs> {
  const open: { taskId: number; leaseId: number }[] = [];
  const sumUs: CostUs = {
    submit: 0,
    'submit with a request id': 0,
    lease: 0,
    heartbeat: 0,
    complete: 0,
    read: 0,
  };
  const coordinator = await startCoordinator(new KeptLog(), (response) => {
    if (response.kind === 'leased') for (const one of response.leases) open.push(one);
    else if (response.kind === 'refusal') throw new Error(`refused: ${response.reason}`);
    if (withBytes) answers.compose(0, 'reply', writeAnswer, response);
  });
  const run = async (verb: Verb, requests: readonly Request[]): Promise<void> => {
    // Copies: the encoder's view is overwritten by the next request.
    const messages = withBytes ? requests.map((one) => new Uint8Array(encodeRequest(one))) : [];
    const began = process.cpuUsage();
    for (let i = 0; i < requests.length; i += 1) {
      const request = withBytes ? decodeRequest(messages[i] as Uint8Array) : requests[i];
      coordinator.take(i, request as Request);
    }
    await settle(coordinator);
    const { user, system } = process.cpuUsage(began);
    sumUs[verb] += user + system;
  };
  for (let done = 0; done < TASKS; done += GROUP) {
    await run(
      'submit',
      Array.from({ length: GROUP }, () => submit()),
    );
    const named = Array.from({ length: GROUP }, (_, index) => ({
      ...submit(`request-${done + index}`),
      queue: 'named',
    }));
    await run('submit with a request id', named);
    await run(
      'lease',
      Array.from({ length: GROUP }, () => lease()),
    );
    const held = open.splice(0);
    await run(
      'heartbeat',
      held.map(({ taskId, leaseId }) => ({ op: 'heartbeat', taskId, leaseId })),
    );
    await run(
      'read',
      held.map(({ taskId }) => ({ op: 'task', taskId, waitMs: 0, base64: false })),
    );
    await run(
      'complete',
      held.map(({ taskId, leaseId }) => complete(taskId, leaseId)),
    );
  }
  await coordinator.stop();
  for (const verb of Object.keys(sumUs) as Verb[]) sumUs[verb] /= TASKS;
  return sumUs;
}

function rows(what: string, taken: readonly CostUs[]): Row[] {
  const verbs: Verb[] = [
    'submit',
    'submit with a request id',
    'lease',
    'complete',
    'heartbeat',
    'read',
  ];
  const lifecycle = taken.map((one) => 1e6 / (one.submit + one.lease + one.complete));
  return [
    ...verbs.map((verb) =>
      rowOf(
        `${verb}, ${what}`,
        'µs',
        taken.map((one) => one[verb]),
      ),
    ),
    rowOf(`lifecycle, ${what}`, '/s', lifecycle),
  ];
}

export const bench: Bench = {
  about: `${TASKS} tasks through the coordinator's loop in groups of ${GROUP}, without a device`,
  async run({ rounds, say }) {
    const taken = await interleaved<string, CostUs>(
      { rounds, say },
      { loop: () => costs(false), bytes: () => costs(true) },
    );
    return [
      ...rows('decide and apply', taken['loop'] ?? []),
      ...rows('with request and answer bytes', taken['bytes'] ?? []),
    ];
  },
};
