// How one task reads on a terminal, and what it must not be made to look like.

import { expect } from 'chai';
import { taskText } from '../../src/cli/task-text.ts';

const NAME = 20;

describe('a task on a terminal', () => {
  it('shows a text of several lines beside its name: no line of it passes for a field', () => {
    const text = taskText({
      task_id: 'T2',
      last_failure_reason: 'no\nstate                COMPLETED',
      payload: 'a\nb\u202e\u001b[2J',
    });
    const fields = text.split('\n').filter((line) => line[0] !== ' ');
    expect(fields.map((line) => line.slice(0, NAME).trim())).to.deep.equal([
      'task_id',
      'last_failure_reason',
      'payload',
    ]);
    expect(text).to.include(`\n${' '.repeat(NAME + 1)}b··[2J`);
  });

  it('keeps a worker on the line of its lease', () => {
    const lease = { lease_id: 'L3', worker_id: 'w\nstate FAILED', lease_expiry: 0 };
    expect(taskText({ lease }).split('\n')).to.have.length(1);
  });
});
