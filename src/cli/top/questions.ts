// Owns what `top` asks the server: the page of the overview, the tasks of a queue or of a worker,
// and a task's story. A server that does not answer is asked until it does.

import type { Wire } from '../../client/transport.ts';
import { COLUMNS_MAX, COLUMNS_MIN } from '../../model/limits.ts';
import { CliError, EXIT } from '../command.ts';
import type { Fields } from '../overview-table.ts';
import { successOf } from '../refusals.ts';
import type { Server } from '../server.ts';
import type { ServerOptions } from '../server-options.ts';
import { ROWS_MAX, type View, type Wish } from './view.ts';

/** Of a worker's leases so many are looked up: what one page shows. */
const LEASES_MAX = 20;

export interface Overview {
  readonly stats: Fields;
  readonly queues: Fields;
  readonly workers: Fields;
}

export class Questions {
  readonly #server: Server;
  readonly #options: ServerOptions;

  constructor(server: Server, options: ServerOptions) {
    this.#server = server;
    this.#options = options;
  }

  /** @throws CliError at the first time that no answer comes */
  async overview({ queueSort, workerSort }: View): Promise<Overview> {
    const [stats, queues, workers] = await Promise.all([
      this.#ask('stats', {}),
      this.#ask('queues', { sort: queueSort, limit: ROWS_MAX }),
      this.#ask('workers', { sort: workerSort, limit: ROWS_MAX }),
    ]);
    return { stats, queues, workers };
  }

  /** The next view, once what the wish is about was asked for. @throws CliError: it is refused */
  async opened(view: View, wish: Wish, columns: number): Promise<View> {
    switch (wish.kind) {
      case 'queue': {
        const asked = { queue: wish.queue, order: 'newest', limit: ROWS_MAX };
        const { tasks } = (await this.#ask('tasks', asked)) as { tasks: Fields[] };
        const title = `The newest tasks of queue ${wish.queue}`;
        return { ...view, tasks: { title, rows: tasks, selected: 0 } };
      }
      case 'worker': {
        const leases = wish.leases.slice(0, LEASES_MAX);
        const found = await Promise.all(leases.map((lease) => this.#taskOf(lease)));
        const title = `Tasks that worker ${wish.workerId} holds`;
        return { ...view, tasks: { title, rows: found.flat(), selected: 0 } };
      }
      case 'story': {
        const width = Math.min(COLUMNS_MAX, Math.max(COLUMNS_MIN, columns));
        const asked = { task_id: wish.taskId, format: 'text', columns: width };
        const text = String((await this.#ask('explain', asked))['text']);
        const lines = text.trimEnd().split('\n');
        return { ...view, story: { taskId: wish.taskId, lines, first: 0 } };
      }
      default:
        return view;
    }
  }

  /** The task of a lease: the record of the lease's number is its grant. */
  async #taskOf(leaseId: string): Promise<Fields[]> {
    const seq = Number(leaseId.slice(1));
    const { records } = (await this.#ask('log', { from: seq, limit: 1 })) as { records: Fields[] };
    const taskId = records[0]?.['task_id'];
    if (typeof taskId !== 'string') return [];
    const after = `T${Number(taskId.slice(1)) - 1}`;
    const { tasks } = (await this.#ask('tasks', { after, limit: 1 })) as { tasks: Fields[] };
    return tasks.filter((task) => task['task_id'] === taskId);
  }

  async #ask(op: string, params: Wire): Promise<Fields> {
    const { body } = await this.#server.ask(op, params);
    if (body['outcome'] !== 'UNAVAILABLE') return successOf({ body }, this.#options);
    throw new CliError(EXIT.noServer, String(body['detail'] ?? body['reason']));
  }
}
