// What a rehearsal says to the user of a worker that took no task although nothing went wrong.

import { expect } from 'chai';
import { whyNoTaskTaken } from '../../src/rehearse/no-task-taken.ts';
import { httpRequests, lineRequest } from '../../src/rehearse/requests.ts';
import { type Asked, Traffic } from '../../src/rehearse/traffic.ts';

describe('why a worker took no task', () => {
  const whyOf = (...requests: Asked[]): string | undefined => {
    const traffic = new Traffic();
    traffic.note(1, 'started');
    for (const request of requests) traffic.open(1, request);
    return whyNoTaskTaken(traffic, 'default');
  };
  const overHttp = (body: object): Asked[] => [
    ...httpRequests('POST', '/v1/leases', JSON.stringify({ worker_id: 'w', ...body })),
  ];

  it('is that it never came: it has another server in mind', () => {
    expect(whyOf()).to.match(/^No request of the worker came .* LEASEHOLD_URL/);
  });

  it('is that it ended before it asked', () => {
    const traffic = new Traffic();
    traffic.note(1, 'ended', 'status 1');
    const words = 'The worker ended by itself (status 1) before it had sent a request.';
    expect(whyNoTaskTaken(traffic, 'default')).to.equal(words);
  });

  it('is that it asked for other queues, over HTTP, in a batch and on the line socket', () => {
    const params = { worker_id: 'w', queues: ['mail'] };
    const batch = JSON.stringify({ requests: [{ op: 'lease', ...params }] });
    for (const request of [
      ...overHttp(params),
      ...httpRequests('POST', '/v1/batch', batch),
      lineRequest({ method: 'lease', params }),
    ]) {
      expect(whyOf(request))
        .to.include('tasks of queue mail, and the tasks of the rehearsal are in queue default.')
        .and.to.include('--queue');
    }
    expect(whyOf(...overHttp({ queues: ['a', 'b'] }))).to.include('of the queues a, b, and');
  });

  it('is not known of one that asked for the right queue, by name or by none', () => {
    expect(whyOf(...overHttp({}))).to.equal(undefined);
    expect(whyOf(...overHttp({ queues: ['mail', 'default'] }))).to.equal(undefined);
  });

  it('is that it asked for something else only', () => {
    expect(whyOf(...httpRequests('GET', '/nowhere', ''))).to.include('GET /nowhere');
    expect(whyOf(...httpRequests('GET', '/v1/tasks/T2', ''))).to.include('asked for no task');
  });
});
