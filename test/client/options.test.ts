// Options are refused by name before anything is sent or leased: one that nobody knows, and one
// that cannot be.

import { expect } from 'chai';
import { Client, Worker } from '../../src/index.ts';

const handler = (): void => {};
const MODULE = new URL('file:///no-such-module.mjs');
const LEASE = { taskId: 'T2', leaseId: 'L3' };

/** TypeScript refuses these, too; a program in JavaScript is not asked. */
type Odd = never;

function thrown(act: () => unknown): { code?: string; message?: string } {
  try {
    act();
  } catch (error) {
    return error as Error;
  }
  return {};
}

describe('options', () => {
  // Nothing listens there: what is sent would be UNREACHABLE.
  const client = new Client({ url: 'http://127.0.0.1:1', retries: 0 });
  after(() => client.close());

  const CONSTRUCTED: Record<string, [act: () => unknown, named: string]> = {
    'a Client that is given a URL only': [() => new Client('http://a' as Odd), '"http://a"'],
    'a Client that is given null': [() => new Client(null as Odd), 'null'],
    'a URL that is none': [() => new Client({ url: 'localhost:5327' }), 'localhost:5327'],
    'a URL of another kind': [() => new Client({ url: 'ftp://a' }), 'ftp://a'],
    'a URL that is an object': [() => new Client({ url: new URL('http://a') as Odd }), 'url'],
    'no URL at all': [() => new Client({ url: [] }), 'url'],
    'one of several URLs that is none': [() => new Client({ url: ['http://a', 'b'] }), '"b"'],
    'a URL with a user': [() => new Client({ url: 'http://u:p@a' }), 'url'],
    'a URL with a query': [() => new Client({ url: 'http://a?token=x' }), 'url'],
    'a TCP address with a path': [() => new Client({ url: 'tcp://a:1/b' }), 'url'],
    'a time that is no number': [() => new Client({ timeoutMs: Number.NaN }), 'timeoutMs'],
    'a time that is negative': [() => new Client({ backoffMs: -1 }), 'backoffMs'],
    'a time that is a text': [() => new Client({ timeoutMs: '10s' as Odd }), 'timeoutMs'],
    'retries that are a fraction': [() => new Client({ retries: 1.5 }), 'retries'],
    'a client option that nobody knows': [() => new Client({ timeout: 5 } as Odd), 'timeoutMs'],
    'a Worker without options': [() => new Worker(undefined as Odd), 'undefined'],
    'a Worker with queue': [() => new Worker({ handler, queue: 'a' } as Odd), 'queues'],
    'queues that are none': [() => new Worker({ handler, queues: [] }), 'queues'],
    'queues that are a text': [() => new Worker({ handler, queues: 'a' as Odd }), 'queues'],
    'no slots': [() => new Worker({ handler, concurrency: 0 }), 'concurrency'],
    'endless slots': [() => new Worker({ handler, concurrency: Infinity }), 'concurrency'],
    'no threads': [() => new Worker({ handler, threads: 0 }), 'threads'],
    'threads for a function': [() => new Worker({ handler, threads: 4 }), 'concurrency'],
    'concurrency of a module': [() => new Worker({ handler: MODULE, concurrency: 4 }), 'threads'],
    'a wait that no server grants': [() => new Worker({ handler, waitMs: 60_001 }), 'waitMs'],
    'heartbeats by nobody': [() => new Worker({ handler, heartbeat: 'none' as Odd }), 'heartbeat'],
    'no handler': [() => new Worker({} as Odd), 'handler'],
    'a handler that is a number': [() => new Worker({ handler: 7 as Odd }), '7'],
    'a handler that is a path': [
      () => new Worker({ handler: './a.js' as Odd }),
      'new URL("./a.js"',
    ],
    'a handler that is a class': [() => new Worker({ handler: Client as Odd }), 'class'],
    'a handler that is a generator': [
      () =>
        new Worker({
          *handler() {
            yield 1;
          },
        }),
      'generator',
    ],
    'a handler that is a module': [
      () => new Worker({ handler: { default: handler } as Odd }),
      'default export',
    ],
  };
  for (const [what, [act, named]] of Object.entries(CONSTRUCTED)) {
    it(`refuse ${what}`, () => {
      const { code, message } = thrown(act);
      expect(code).to.equal('INVALID_OPTION');
      expect(message).to.contain(named);
    });
  }

  const CALLED: Record<string, [act: () => Promise<unknown>, named: string]> = {
    'a payload that is not in an object': [() => client.submit('x' as Odd), '"x"'],
    'no options of a submit': [() => client.submit(undefined as Odd), 'undefined'],
    'a submit option that nobody knows': [
      () => client.submit({ payload: 1, request_id: 'a' } as Odd),
      'requestId',
    ],
    'a retry policy that nobody knows': [
      () => client.submit({ payload: 1, retryPolicy: { retries: 1 } as Odd }),
      'retryPolicy',
    ],
    'a delay that is no number': [
      () => client.submit({ payload: 1, delayMs: Number.NaN }),
      'delayMs',
    ],
    'a delay without end': [() => client.submit({ payload: 1, delayMs: Infinity }), 'delayMs'],
    'metadata that JSON would empty': [
      () => client.submit({ payload: 1, metadata: new Map([['a', 'b']]) as Odd }),
      'metadata',
    ],
    'a lease option that nobody knows': [
      () => client.lease({ workerId: 'w', queue: 'a' } as Odd),
      'queues',
    ],
    'a wait in seconds and a half': [() => client.lease({ workerId: 'w', waitMs: 0.5 }), 'waitMs'],
    'a call option that nobody knows': [
      () => client.heartbeat(LEASE, { timeout: 5 } as Odd),
      'timeoutMs',
    ],
    'a signal that is none': [
      () => client.complete(LEASE, 'x', { signal: new AbortController() as Odd }),
      'signal',
    ],
    'a kind of failure that there is not': [
      () => client.fail(LEASE, { reason: 'x', kind: 'fatal' as Odd }),
      'kind',
    ],
    'a filter that nobody knows': [() => client.tasks({ status: 'DEAD' } as Odd), 'state'],
    'a state that there is not': [() => client.tasks({ state: 'DONE' as Odd }), 'state'],
    'a wait without end': [() => client.task('T2', { waitMs: Infinity }), 'waitMs'],
    'an op that there is not': [() => client.batch([{ op: 'comlete' } as Odd]), 'comlete'],
    'a batched option that nobody knows': [
      () => client.batch([{ op: 'submit', payload: 1, delay: 5 } as Odd]),
      'delayMs',
    ],
    'a batch option that nobody knows': [
      () => client.batch([{ op: 'heartbeat', ...LEASE }], { retries: 5 } as Odd),
      'retries',
    ],
    'a run option that nobody knows': [
      () => new Worker({ handler }).run({ untilDone: true } as Odd),
      'untilEmpty',
    ],
    'a grace that is no number': [
      () => new Worker({ handler }).stop({ graceMs: Number.NaN }),
      'graceMs',
    ],
    'a stop option that nobody knows': [
      () => new Worker({ handler }).stop({ grace: 5 } as Odd),
      'graceMs',
    ],
  };
  for (const [what, [act, named]] of Object.entries(CALLED)) {
    it(`refuse ${what}, before anything is sent`, async () => {
      const error = await act().then(
        () => ({ code: 'none', message: '' }),
        (refused: { code?: string; message: string }) => refused,
      );
      expect(error.code, error.message).to.equal('INVALID_OPTION');
      expect(error.message).to.contain(named);
    });
  }

  it('refuse a lease without its ids', async () => {
    const error = await client.complete('L3' as Odd).catch((refused: unknown) => refused);
    expect(error).to.include({ code: 'INVALID_ARGUMENT' });
  });
});
