// A worker without the library, over plain HTTP, that keeps the contract, or breaks it in one way:
// node by-hand.mjs [no-heartbeat | no-check | after-cancelled | deaf | repeats | too-soon |
//                  looks-only]

const broken = process.argv[2];
const url = process.env['LEASEHOLD_URL'];
const ledger = process.env['LEASEHOLD_EFFECTS_URL'];
const workerId = `by-hand-${process.pid}`;
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const stopping = new AbortController();

for (const signal of ['SIGTERM', 'SIGINT']) {
  process.on(signal, () => {
    if (broken === 'deaf') return;
    stopping.abort();
  });
}

/** @returns undefined when there was no answer. */
async function post(path, body, ms = 10_000) {
  try {
    const init = { method: 'POST', body: JSON.stringify(body), signal: AbortSignal.timeout(ms) };
    const response = await fetch(`${url}${path}`, init);
    return await response.json();
  } catch {
    return undefined;
  }
}

const effectsOf = async (taskId) =>
  (await (await fetch(`${ledger}?task_id=${taskId}`)).json()).effects;

async function work(lease, isLost, isRepeated = false) {
  const { task_id: taskId, lease_id: leaseId, fencing_token: token } = lease;
  if (!isRepeated && (await effectsOf(taskId)) > 0 && broken !== 'no-check') return;
  if (broken !== 'no-check' && broken !== 'looks-only' && !isRepeated) {
    const names = { task_id: taskId };
    const beat = await post(`/v1/leases/${leaseId}/heartbeat`, names);
    if (beat?.outcome !== 'OK' || isLost()) throw new Error('the lease is lost');
  }
  const body = JSON.stringify({ task_id: taskId, fencing_token: token });
  if (broken === 'too-soon') {
    const answer = await report(leaseId, 'complete', { task_id: taskId, result: 'done' });
    // REJECTED: the first report counted, and its answer was lost.
    if (answer === undefined || answer.outcome === 'CANCELLED') return;
  }
  await fetch(ledger, { method: 'POST', body });
}

/** The same report again while there is no answer; what is answered is final. */
async function report(leaseId, op, body) {
  for (let tries = 1; tries <= 20; tries++) {
    const answer = await post(`/v1/leases/${leaseId}/${op}`, body);
    if (answer !== undefined && answer.outcome !== 'UNAVAILABLE') return answer;
    if (answer === undefined && broken === 'repeats') return undefined;
    await pause(100);
  }
  return undefined;
}

async function doOne(lease) {
  const { task_id: taskId, lease_id: leaseId, heartbeat_interval_ms: everyMs } = lease;
  let lost = false;
  const heartbeat = async () => {
    const answer = await post(`/v1/leases/${leaseId}/heartbeat`, { task_id: taskId });
    if (answer !== undefined && answer.outcome !== 'OK') {
      lost = true;
      clearInterval(beat);
    }
  };
  const beat = setInterval(() => void heartbeat(), everyMs);
  if (broken === 'no-heartbeat' || broken === 'too-soon') clearInterval(beat);
  try {
    await work(lease, () => lost);
    clearInterval(beat);
    if (broken === 'too-soon' || (lost && broken !== 'after-cancelled')) return;
    let answer = await report(leaseId, 'complete', { task_id: taskId, result: 'done' });
    if (answer === undefined && broken === 'repeats') {
      await work(lease, () => false, true);
      answer = await report(leaseId, 'complete', { task_id: taskId, result: 'done' });
    }
    if (answer?.outcome === 'CANCELLED' && broken === 'after-cancelled') {
      await report(leaseId, 'complete', { task_id: taskId, result: 'done' });
    }
  } catch (error) {
    clearInterval(beat);
    if (!lost) await report(leaseId, 'fail', { task_id: taskId, reason: String(error) });
  }
}

while (!stopping.signal.aborted) {
  const answer = await post('/v1/leases', { worker_id: workerId, wait_ms: 500 });
  if (answer === undefined || answer.leases === undefined) {
    await pause(100);
    continue;
  }
  for (const lease of answer.leases) await doOne(lease);
}
