// A worker over the bare line socket: one connection, every message a JSON-RPC batch, up to four
// leases at a time. It keeps the contract or breaks it in one way:
// node lines.mjs [keeps | swallows | fails-after-cancelled]

import net from 'node:net';

const fault = process.argv[2];
const ledger = process.env['LEASEHOLD_EFFECTS_URL'];
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const stopping = new AbortController();
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => stopping.abort());

let socket;
let calls = 0;
/** Those who wait for an answer, by the id of their call. */
const waiting = new Map();

function connect() {
  return new Promise((resolve) => {
    const port = Number(process.env['LEASEHOLD_SOCKET_PORT']);
    const made = net.connect(port, '127.0.0.1', () => {
      socket = made;
      resolve();
    });
    let rest = '';
    made.on('data', (chunk) => {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop();
      for (const { id, result } of lines.flatMap((line) => JSON.parse(line))) {
        waiting.get(id)?.(result);
        waiting.delete(id);
      }
    });
    made.on('error', () => {});
    made.on('close', () => {
      if (socket === made) socket = undefined;
      for (const give of waiting.values()) give(undefined);
      waiting.clear();
      setTimeout(resolve, 50);
    });
  });
}

/** @returns the answers in the order of the calls; undefined: none came. */
async function ask(...asked) {
  while (socket === undefined) await connect();
  const batch = asked.map(([method, params]) => {
    calls += 1;
    return { jsonrpc: '2.0', id: calls, method, params };
  });
  const answers = batch.map(({ id }) => new Promise((resolve) => waiting.set(id, resolve)));
  socket.write(`${JSON.stringify(batch)}\n`);
  return Promise.all(answers);
}

const held = new Map();
const namesOf = ({ task_id, lease_id }) => ({ task_id, lease_id });

async function keep() {
  const now = [...held.values()];
  if (now.length === 0) return;
  const answers = await ask(...now.map((lease) => ['heartbeat', namesOf(lease)]));
  for (const [index, lease] of now.entries()) {
    if (answers[index]?.outcome !== 'REJECTED') continue;
    lease.isLost = true;
    held.delete(lease.lease_id);
  }
}
setInterval(() => void keep(), 500);

async function report(lease, method, more) {
  for (let tries = 1; tries <= 30 && !lease.isLost; tries++) {
    const [answer] = await ask([method, { ...namesOf(lease), ...more }]);
    if (answer?.outcome === 'CANCELLED' && fault === 'fails-after-cancelled') {
      await ask(['fail', { ...namesOf(lease), reason: 'cancelled' }]);
    }
    if (answer !== undefined && answer.outcome !== 'UNAVAILABLE') return;
    await pause(100);
  }
}

/** @returns false: the lease is lost, and there is no effect. */
async function makeEffect(lease) {
  const done = await (await fetch(`${ledger}?task_id=${lease.task_id}`)).json();
  if (done.effects > 0) return true;
  const [answer] = await ask(['heartbeat', namesOf(lease)]);
  if (answer?.outcome !== 'OK' || lease.isLost) return false;
  const { task_id, fencing_token } = lease;
  await fetch(ledger, { method: 'POST', body: JSON.stringify({ task_id, fencing_token }) });
  return true;
}

async function doOne(lease) {
  if (stopping.signal.aborted) {
    if (fault === 'keeps') return;
    return report(lease, 'fail', { reason: 'the worker stops', kind: 'released' });
  }
  try {
    JSON.parse(lease.payload);
  } catch (error) {
    if (fault === 'swallows') return;
    return report(lease, 'fail', { reason: String(error), kind: 'permanent' });
  }
  if (!lease.isLost && (await makeEffect(lease))) await report(lease, 'complete', { result: 'x' });
}

while (!stopping.signal.aborted) {
  const [answer] = await ask(['lease', { worker_id: 'lines', max: 4 }]);
  const leases = answer?.leases ?? [];
  for (const lease of leases) held.set(lease.lease_id, lease);
  for (const lease of leases) {
    await doOne(lease);
    held.delete(lease.lease_id);
  }
  if (leases.length === 0) await pause(60);
}
process.exit();
