// Owns how a worker tells what happens: to its listeners, and on the standard error when nobody
// listens for a failure. A listener that throws does no harm. This file decides nothing about a
// task.

import { EventEmitter } from 'node:events';
import { LeaseholdError } from './errors.ts';
import { Outage, tryingAgain } from './outage.ts';
import { reasonOf } from './reason.ts';
import type { ProtocolEvent } from './types.ts';
import type { WorkerEvents } from './worker-events.ts';

type Listener = (...args: unknown[]) => unknown;

const WARNING = 'LeaseholdWarning';

export class WorkerVoice extends EventEmitter<WorkerEvents> {
  readonly #isQuiet: boolean;
  /** As far as nobody listened. */
  readonly #outage = new Outage();

  constructor(isQuiet: boolean) {
    super();
    this.#isQuiet = isQuiet;
  }

  /** Calls every listener, also after one of them has thrown: that one is told as an `error`. */
  override emit<Name>(
    name: keyof WorkerEvents | Name,
    ...args: Name extends keyof WorkerEvents ? WorkerEvents[Name] : never
  ): boolean {
    const listeners = this.rawListeners(name as keyof WorkerEvents) as Listener[];
    for (const listener of listeners) this.#call(String(name), listener, args);
    if (name === 'protocol') this.#hear(args[0] as ProtocolEvent);
    else if (listeners.length === 0) this.#tellUnheard(String(name), args[0]);
    return listeners.length > 0;
  }

  #hear(event: ProtocolEvent): void {
    if (!this.#outage.isOver(event)) return;
    process.emitWarning('the server answers again', WARNING, 'REACHABLE');
  }

  #call(name: string, listener: Listener, args: readonly unknown[]): void {
    try {
      const result = Reflect.apply(listener, this, args);
      // An async listener must not end the process by its rejection either.
      if (result instanceof Promise) result.catch((thrown) => this.#tellThrown(name, thrown));
    } catch (thrown) {
      this.#tellThrown(name, thrown);
    }
  }

  #tellThrown(name: string, thrown: unknown): void {
    const text = `a listener of the worker's ${name} events threw: ${reasonOf(thrown)}`;
    const error = new LeaseholdError('LISTENER', text, { cause: thrown });
    // A listener for errors that throws is not asked about that.
    if (name === 'error') warn(error);
    else this.emit('error', error);
  }

  #tellUnheard(name: string, event: unknown): void {
    if (name === 'error') return this.#warn(event as LeaseholdError);
    if (this.#isQuiet) return;
    const line = lineOf(name, event as WorkerEvents[keyof WorkerEvents][0]);
    if (line !== undefined) sayOnStderr(line);
  }

  #warn(error: LeaseholdError): void {
    const sign = this.#outage.take(error);
    if (sign === 'lasts') return;
    warn(error, sign === 'begins' ? tryingAgain(error.message) : error.message);
  }
}

/** When nobody reads the standard error any more, the line is lost and the process lives. */
function sayOnStderr(line: string): void {
  const { stderr } = process;
  const lost = (): void => {};
  stderr.once('error', lost);
  stderr.write(`${line}\n`, () => stderr.off('error', lost));
}

function warn({ code, message }: LeaseholdError, text = message): void {
  process.emitWarning(text, WARNING, code);
}

/** @returns one line for an event that should not go unseen. */
function lineOf(name: string, event: object): string | undefined {
  const { task } = event as { task: { taskId: string; leaseId: string } };
  const about = (what: string, why: string): string =>
    oneLine(`leasehold: ${task.taskId} ${task.leaseId} ${what}: ${why}`);
  switch (name) {
    case 'failed': {
      const { failure, outcome } = event as WorkerEvents['failed'][0];
      return about(`failed, the task is ${outcome.taskState}`, failure.reason);
    }
    case 'lost':
      return about('lost', (event as WorkerEvents['lost'][0]).reason);
    case 'rejected': {
      const { reason, detail } = (event as WorkerEvents['rejected'][0]).outcome;
      return about('REJECTED', detail === undefined ? reason : `${reason}, ${detail}`);
    }
    default:
      return undefined;
  }
}

/** A reason is somebody's text: it must not look like the next line, nor steer a terminal. */
const oneLine = (text: string): string => text.replace(/[\p{C}\u2028\u2029]+/gu, ' ').trim();
