// Owns the telling of a story while it is played: each step, the question before it, the answer,
// and at the end the log and the explanation. The stories decide what happens; this file does not.

import type { Heard } from './puppet.ts';
import type { Fields, Scene } from './stage.ts';

/** Leases of the stories; long enough to read along, short enough to wait for. */
export const LEASE_MS = 1_500;
/** Beyond the end of a lease: a story must not turn on the last millisecond. */
const MARGIN_MS = 200;

export interface Teller {
  /** One line, or an empty one. */
  line(text: string): void;
  /** Shows a question and waits until the learner has thought about it. */
  guess(question: string): Promise<void>;
  /** How a record reads. */
  record(record: Fields): string;
}

export interface Played {
  /** Types of the records, those of starts included. */
  readonly records: readonly string[];
  /** Outcomes of the reports, in order: COMMITTED, CANCELLED lease_superseded … */
  readonly answers: readonly string[];
}

interface Held {
  readonly taskId: string;
  readonly leaseId: string;
  readonly token: number;
  until: number;
}

export class Play {
  readonly answers: string[] = [];
  readonly #stage: Scene;
  readonly #teller: Teller;
  /** Of the newest lease of each worker. */
  readonly #leases = new Map<string, Held>();

  constructor(stage: Scene, teller: Teller) {
    this.#stage = stage;
    this.#teller = teller;
  }

  tell(text: string): void {
    this.#teller.line(`  ${text}`);
  }

  guess(question: string): Promise<void> {
    return this.#teller.guess(question);
  }

  async submit(fields: Fields = {}): Promise<string> {
    const body = { queue: 'mail', payload: 'to: a@example.org', ...fields };
    const heard = await this.#post('client', '/v1/tasks', body);
    const id = String(heard.body['task_id']);
    this.#answer(
      'client',
      `submit`,
      `${id}${heard.body['deduplicated'] === true ? ', the same task again' : ''}`,
    );
    return id;
  }

  /** @returns whether a task was granted. */
  async lease(worker: string, fields: Fields = {}, drop = false): Promise<boolean> {
    const body = { worker_id: worker, queues: ['mail'], ...fields };
    const { status, body: answer } = await this.#post(worker, '/v1/leases', body, drop);
    const [lease] = (answer['leases'] ?? []) as Fields[];
    if (lease === undefined) {
      const why = (answer['empty'] as Fields | undefined)?.['reason'];
      this.#answer(worker, 'lease', status === 0 ? 'the answer is lost' : `empty, ${String(why)}`);
      return false;
    }
    const { task_id: taskId, lease_id: leaseId, attempt, lease_ms: leaseMs } = lease;
    this.#leases.set(worker, {
      taskId: String(taskId),
      leaseId: String(leaseId),
      token: Number(lease['fencing_token']),
      until: this.#stage.now() + Number(leaseMs),
    });
    this.#answer(worker, 'lease', `${taskId} under ${leaseId}, attempt ${attempt}`);
    return true;
  }

  async heartbeat(worker: string): Promise<void> {
    const { leaseId, body } = this.#held(worker);
    // Within the millisecond of the grant it would change nothing, and record nothing.
    await this.#stage.pass(2);
    const heard = await this.#post(worker, `/v1/leases/${leaseId}/heartbeat`, body);
    const lease = this.#leases.get(worker);
    if (lease !== undefined && heard.status === 200) {
      lease.until = this.#stage.now() + Number(heard.body['lease_ms']);
    }
    this.#answer(worker, `heartbeat ${leaseId}`, words(heard));
  }

  async report(
    worker: string,
    verb: 'complete' | 'fail',
    fields: Fields = {},
    drop = false,
  ): Promise<void> {
    const { leaseId, body } = this.#held(worker);
    const route = `/v1/leases/${leaseId}/${verb}`;
    const heard = await this.#post(worker, route, { ...body, ...fields }, drop);
    const outcome = heard.status === 0 ? 'the answer is lost' : words(heard);
    this.answers.push(outcome);
    this.#answer(worker, `${verb} ${leaseId}`, outcome);
  }

  async change(verb: 'kill' | 'redrive', taskId: string, fields: Fields = {}): Promise<string> {
    const heard = await this.#post('client', `/v1/tasks/${taskId}/${verb}`, fields);
    const next = String(verb === 'kill' ? words(heard) : (heard.body['task_id'] ?? words(heard)));
    this.#answer('client', `${verb} ${taskId}`, next);
    return next;
  }

  /** Asks for the task as it stands. */
  async look(taskId: string): Promise<void> {
    const task = JSON.parse(await this.#stage.get(`/v1/tasks/${taskId}`)) as Fields;
    const { lease_id: leaseId, worker_id: worker } = (task['lease'] ?? {}) as Fields;
    const held = leaseId === undefined ? '' : `, ${leaseId} of ${worker}`;
    this.#answer('client', `task ${taskId}`, `${task['state']}, attempt ${task['attempt']}${held}`);
  }

  /** The fencing token of the newest lease of a worker. */
  token(worker: string): number {
    return this.#held(worker).token;
  }

  signal(worker: string, signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
    this.#stage.worker(worker).signal(signal);
    this.#teller.line(`  ${signal} to ${worker}`);
  }

  async killCoordinator(): Promise<void> {
    await this.#stage.kill();
    this.#teller.line('  kill -9 of the coordinator');
  }

  async startCoordinator(): Promise<void> {
    await this.#stage.start();
    this.#teller.line('  the coordinator is started on the same log');
  }

  /** Waits until the newest lease of a worker has run out for sure, by what it was told last. */
  async outlast(worker: string): Promise<void> {
    const { leaseId, until } = this.#held(worker);
    this.#teller.line(`  … time passes, until ${leaseId} has run out`);
    await this.#stage.pass(Math.max(0, until - this.#stage.now()) + MARGIN_MS);
  }

  wait(ms: number): Promise<void> {
    return this.#stage.pass(ms);
  }

  /** Lets something go on while the story does, as a request that waits. */
  async meanwhile(first: Promise<unknown>, act: () => Promise<void>): Promise<void> {
    await act();
    await first;
  }

  /** Shows the log and the explanations of these tasks. */
  async end(tasks: readonly string[]): Promise<Played> {
    const log = await this.#stage.get('/v1/log?limit=1000');
    const records = log
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Fields);
    this.#teller.line('');
    this.#teller.line('The log:');
    for (const record of records) this.#teller.line(`  ${this.#teller.record(record)}`);
    for (const task of tasks) {
      const text = await this.#stage.get(`/v1/tasks/${task}/explain`, 'text/plain');
      this.#teller.line('');
      for (const line of story(text)) this.#teller.line(line);
    }
    return { records: records.map(({ type }) => String(type)), answers: this.answers };
  }

  #post(worker: string, path: string, body: Fields, drop = false): Promise<Heard> {
    return this.#stage.worker(worker).send({ path, body, drop });
  }

  #answer(worker: string, asked: string, answer: string): void {
    this.#teller.line(`  ${worker}: ${asked} → ${answer}`);
  }

  #held(worker: string): Held & { readonly body: Fields } {
    const lease = this.#leases.get(worker);
    if (lease === undefined) throw new Error(`the story gives ${worker} no lease`);
    return { ...lease, body: { task_id: lease.taskId } };
  }
}

/** `COMMITTED WAITING`, `CANCELLED lease_expired`, `REJECTED duplicate_report`. */
function words({ status, body }: Heard): string {
  if (status === 0) return 'nobody answers';
  const { outcome, reason, task_state: state } = body;
  return [outcome, outcome === 'COMMITTED' ? state : reason]
    .filter((one) => one !== undefined)
    .join(' ');
}

/** Of the explanation what the log above does not say already: all but the records. */
function story(text: string): string[] {
  const lines = text.trimEnd().split('\n');
  const from = lines.indexOf('Attempts');
  const kept = from === -1 ? lines.indexOf('Now') : from;
  return [`explain ${lines[0]}`, '', ...lines.slice(Math.max(kept, 1))];
}
