// Owns a question to the coordinator whose answer is awaited as text, by whoever needs it to go on.

import type { Request } from '../../src/model/request.ts';
import type { Answer } from '../../src/protocol/answer-frame.ts';
import { Asker, type Gate } from './gate.ts';
import type { Stood } from './reader-answers.ts';

export type AskedGate = Pick<Gate, 'ask'>;

export const askGate = (gate: AskedGate, request: Request): Promise<Stood> =>
  new Promise((resolve) => {
    gate.ask(request, new Promised(resolve));
  });

class Promised extends Asker {
  readonly #resolve: (stood: Stood) => void;

  constructor(resolve: (stood: Stood) => void) {
    super();
    this.#resolve = resolve;
  }

  answered({ status, text, leader }: Answer): void {
    this.#resolve({ status, text, leader });
  }
}
