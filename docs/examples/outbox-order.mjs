// The application: takes an order, and writes in the same transaction that a mail is to be sent.
//
// usage: DATABASE_URL=postgres://… node outbox-order.mjs CUSTOMER
import pg from 'pg';

const [customer = ''] = process.argv.slice(2);
const db = new pg.Client({ connectionString: process.env.DATABASE_URL });
await db.connect();
try {
  await db.query('BEGIN');
  const { rows } = await db.query('INSERT INTO orders (customer) VALUES ($1) RETURNING id', [
    customer,
  ]);
  const payload = JSON.stringify({ order: rows[0].id, to: customer });
  await db.query('INSERT INTO outbox (queue, payload) VALUES ($1, $2)', ['mail', payload]);
  await db.query('COMMIT');
  console.log(`order ${rows[0].id}`);
} catch (error) {
  await db.query('ROLLBACK');
  console.error(`no order, and no mail: ${error.message}`);
  process.exitCode = 1;
} finally {
  await db.end();
}
