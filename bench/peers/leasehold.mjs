// Owns how the peers' driver speaks to leasehold itself: the built server with default settings,
// over its socket and over HTTP.

import { HttpLink, leaseAndCompleteBatch, submitBatch } from '../../dist/bench/http-link.js';
import { startServer } from '../../dist/bench/server.js';
import { SocketLink } from '../../dist/bench/socket-link.js';

const FLUSHED = { submit: true, lease: true, complete: true };
const PROMISE = 'submit, lease and complete: each flushed before its answer';

const idsIn = (answer) => ({
  task: /"task_id":"(T\d+)"/.exec(answer)?.[1],
  lease: /"lease_id":"(L\d+)"/.exec(answer)?.[1],
});

function found(answer) {
  const ids = idsIn(answer);
  if (ids.lease === undefined) throw new Error(`nothing was leased: ${answer.slice(0, 200)}`);
  return ids;
}

function expectIn(answer, part) {
  if (!answer.includes(part)) throw new Error(`not ${part}: ${answer.slice(0, 200)}`);
}

export async function socketClient(port, index, payload) {
  const link = await SocketLink.to(port);
  return {
    async submit() {
      expectIn(await link.call('submit', `{"payload":"${payload}"}`), '"state":"WAITING"');
    },
    lease: async () => found(await link.call('lease', `{"worker_id":"w${index}","wait_ms":5000}`)),
    async complete({ task, lease }) {
      const params = `{"task_id":"${task}","lease_id":"${lease}"}`;
      expectIn(await link.call('complete', params), '"COMMITTED"');
    },
    close: () => link.close(),
  };
}

export async function httpClient(port, index, payload) {
  const link = await HttpLink.to(port);
  const post = async (path, body) => (await link.post(path, body)).body;
  return {
    async submit() {
      expectIn(await post('/v1/tasks', `{"payload":"${payload}"}`), '"state":"WAITING"');
    },
    lease: async () => found(await post('/v1/leases', `{"worker_id":"w${index}","wait_ms":5000}`)),
    async complete({ task, lease }) {
      const path = `/v1/leases/${lease}/complete`;
      expectIn(await post(path, `{"task_id":"${task}"}`), '"COMMITTED"');
    },
    close: () => link.close(),
    link,
  };
}

export const leaseholdSocket = {
  name: 'leasehold, socket',
  promise: PROMISE,
  flushed: FLUSHED,
  pipelines: true,
  open: true,
  start: () => startServer(),
  client: ({ socketPort }, index, payload) => socketClient(socketPort, index, payload),
};

export const leaseholdHttp = {
  name: 'leasehold, HTTP',
  promise: PROMISE,
  flushed: FLUSHED,
  pipelines: false,
  submits: true,
  start: () => startServer(),
  async client({ httpPort }, index, payload) {
    const { link, ...client } = await httpClient(httpPort, index, payload);
    return {
      ...client,
      submitBatch: (count) => submitBatch(link, count, payload),
      workBatch: (count) => leaseAndCompleteBatch(link, `w${index}`, count),
    };
  },
};
