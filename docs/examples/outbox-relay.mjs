// The relay: submits the rows of the outbox to leasehold and marks them as sent. It may be killed
// at any moment and started again, and several may run at once: a row that was submitted and not
// marked is submitted again with the same request id, and leasehold answers the task that it has.
//
// usage: DATABASE_URL=postgres://… LEASEHOLD_URL=http://… node outbox-relay.mjs
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'leasehold';
import pg from 'pg';

const ROWS = 100;
const IDLE_MS = 500;
const TROUBLE_MS = 2_000;

const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stopping.abort());
const client = new Client({ url: process.env.LEASEHOLD_URL });

while (!stopping.signal.aborted) {
  const db = new pg.Client({ connectionString: process.env.DATABASE_URL });
  // A connection that breaks while nothing is asked must not end the process.
  db.on('error', (error) => console.error(`the database: ${error.message}`));
  try {
    await db.connect();
    while (!stopping.signal.aborted) {
      if ((await relay(db)) < ROWS) await idle(IDLE_MS);
    }
  } catch (error) {
    // The database or the coordinator is away: nothing is lost, the rows wait.
    console.error(`${error.message}; trying again`);
    await idle(TROUBLE_MS);
  } finally {
    await db.end().catch(() => {});
  }
}
client.close();

/** @returns how many rows it took */
async function relay(db) {
  await db.query('BEGIN');
  try {
    const { rows } = await db.query(
      `SELECT id, request_id, queue, payload FROM outbox
        WHERE sent_at IS NULL AND refused IS NULL
        ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED`,
      [ROWS],
    );
    const answers = await client.batch(
      rows.map(({ request_id, queue, payload }) => ({
        op: 'submit',
        requestId: request_id,
        queue,
        payload,
      })),
    );
    for (const [at, answer] of answers.entries()) await mark(db, rows[at], answer);
    await db.query('COMMIT');
    return rows.length;
  } catch (error) {
    await db.query('ROLLBACK').catch(() => {});
    throw error;
  }
}

async function mark(db, row, answer) {
  if (answer.taskId !== undefined) {
    await db.query('UPDATE outbox SET sent_at = now(), task_id = $2 WHERE id = $1', [
      row.id,
      answer.taskId,
    ]);
    console.log(`row ${row.id} is ${answer.taskId}${answer.deduplicated ? ' already' : ''}`);
  } else if (answer.outcome === 'REJECTED') {
    // Too large, say. Without this one bad row would hold up all rows behind it.
    const why = `${answer.reason}: ${answer.detail ?? ''}`;
    await db.query('UPDATE outbox SET refused = $2 WHERE id = $1', [row.id, why]);
    console.error(`row ${row.id} is refused: ${why}`);
  }
  // UNAVAILABLE: the row stays as it is, and is submitted again.
}

async function idle(ms) {
  await pause(ms, undefined, { signal: stopping.signal }).catch(() => {});
}
