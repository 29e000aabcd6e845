-- The outbox: tasks that the application's transactions have decided on. A row is written together
-- with the change that it belongs to, and leasehold learns of it by outbox-relay.mjs.
CREATE TABLE IF NOT EXISTS outbox (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- Names the submit. It is drawn by chance, and not the id: after a restore of the database the
  -- same ids are given out again, for other tasks.
  request_id uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
  queue      text NOT NULL,
  payload    text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- When leasehold acknowledged the task, and its id there.
  sent_at    timestamptz,
  task_id    text,
  -- Why leasehold will never take this row; somebody has to look at it.
  refused    text
);

CREATE INDEX IF NOT EXISTS outbox_unsent ON outbox (id)
  WHERE sent_at IS NULL AND refused IS NULL;
