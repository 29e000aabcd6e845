// Owns what is checked of every answer that leaves: it is the one the model expects, there is one
// for each request, and everything that it rests on is durable.

import type { Response } from '../../../src/model/response.ts';
import type { Expected } from '../model/model.ts';
import { difference, text } from './same.ts';
import { Violation } from './violation.ts';

export function checkAnswer(
  expected: Map<number, Expected>,
  ticket: number,
  response: Response,
  durable: number,
): void {
  const due = expected.get(ticket);
  if (due === undefined) {
    throw new Violation('answers', `nobody waits for this answer to ${ticket}: ${text(response)}`);
  }
  expected.delete(ticket);
  const different =
    typeof due.answer === 'function' ? due.answer(response) : difference(due.answer, response);
  if (different !== undefined) {
    const wanted = typeof due.answer === 'function' ? '' : `\nexpected ${text(due.answer)}`;
    throw new Violation(
      'model',
      `answer ${ticket}: ${different}${wanted}\n     got ${text(response)}`,
    );
  }
  if (due.mark > durable) {
    const what = `${ticket} left when the device held ${durable}, it rests on ${due.mark}`;
    throw new Violation('order', `the answer to ${what}`);
  }
}
