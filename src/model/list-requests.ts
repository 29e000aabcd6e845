// Owns the fields of the requests for lists: which rows, in which order, and from where on.

import { PAGE_DEFAULT, PAGE_MAX } from './limits.ts';
import * as f from './request-fields.ts';
import { TASK_STATES } from './task-states.ts';

export const tasksFields = {
  state: f.optional(f.word(TASK_STATES, 'Only tasks in this state.')),
  queue: f.optional(f.name(f.QueueName)),
  request_id: f.optional(f.identifier('Only the task with this request id.')),
  after: f.filled(f.place("Only tasks after this one: an answer's `next`."), 0),
  limit: f.filled(
    f.whole(1, PAGE_MAX, `Tasks in the answer. Default: ${PAGE_DEFAULT}.`),
    PAGE_DEFAULT,
  ),
  order: f.optional(f.word(['oldest', 'newest'], 'Which tasks come first. Default: oldest.')),
  max_age_ms: f.optional(f.duration(1, 'Only tasks that were submitted so lately.')),
};

export const queuesFields = {
  sort: f.optional(
    f.word(
      ['name', 'waiting', 'delayed', 'leased', 'oldest', 'rate', 'asked'],
      'Which queues come first: by name, or those with the most, the oldest, the fastest, ' +
        'or with tasks that nobody asks for. Default: name.',
    ),
  ),
  match: f.optional(f.identifier('Only queues whose name contains this text.')),
  after: f.optional(f.cursor("Only queues after this place: an answer's `next`.")),
  limit: f.optional(f.whole(1, PAGE_MAX, `Queues in the answer. Default: ${PAGE_MAX}.`)),
};

export const workersFields = {
  sort: f.optional(
    f.word(
      ['seen', 'name', 'held'],
      'Which workers come first: heard of last, by name, or with the most leases. Default: seen.',
    ),
  ),
  match: f.optional(f.identifier('Only workers whose id contains this text.')),
  after: f.optional(f.cursor("Only workers after this place: an answer's `next`.")),
  limit: f.optional(f.whole(1, PAGE_MAX, `Workers in the answer. Default: ${PAGE_MAX}.`)),
};
