// Owns the account of `submit --lines`: which lines are submitted, which are refused, for which
// lines no answer came, and how to continue with the same command.

import type { Wire } from '../client/transport.ts';
import { EXIT } from './command.ts';
import { isRefusal, refusalText, statusOfRefusal } from './refusals.ts';

/** Both ends inclusive. */
type Range = [from: number, to: number];

/** More would hide what comes after them. */
const REFUSALS_SHOWN = 10;

export class LineAccount {
  readonly #prefix: string;
  readonly #submitted: Range[] = [];
  readonly #refused: { line: number; body: Wire }[] = [];
  /** Sent, and without an answer so far. */
  #open: Range | undefined;
  #line = 0;
  #created = 0;
  #before = 0;
  #first = '';
  #last = '';

  /** @param prefix of the request ids, given or made up. */
  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** The next lines are under way: nobody knows of them until they are answered. */
  sending(lines: number): void {
    this.#open = [this.#line + 1, this.#line + lines];
  }

  /** @param bodies the answers to those lines, in their order. */
  add(bodies: readonly Wire[]): void {
    this.#open = undefined;
    for (const body of bodies) {
      this.#line += 1;
      if (isRefusal(body)) this.#refused.push({ line: this.#line, body });
      else this.#stored(body);
    }
  }

  get submitted(): number {
    return this.#created + this.#before;
  }

  get refused(): number {
    return this.#refused.length;
  }

  /** Refused as written wrongly, and nothing done: that is a wrong use of the command. */
  get status(): number {
    const [first] = this.#refused;
    const isUsage = this.submitted === 0 && first && statusOfRefusal(first.body) === EXIT.usage;
    return isUsage ? EXIT.usage : EXIT.failed;
  }

  done(): string {
    const range = this.#line === 0 ? '' : `: ${this.#first} to ${this.#last}`;
    const before = this.#before === 0 ? '' : `, ${this.#before} submitted before`;
    return `${this.#created} tasks submitted${before}${range}`;
  }

  /** The refused lines by number, and the account. */
  refusals(asJson: boolean): string {
    const shown = this.#refused.slice(0, REFUSALS_SHOWN);
    if (asJson) {
      const [{ line, body }] = shown as [(typeof shown)[number]];
      return JSON.stringify({ ...body, line, ...this.#figures() });
    }
    const more = this.#refused.length - shown.length;
    return [
      ...shown.map(({ line, body }) => `line ${line}: ${refusalText(body)}`),
      ...(more === 0 ? [] : [`and ${more} more lines were refused`]),
      this.#account(),
    ].join('\n');
  }

  /** It ended otherwise than by an answer. */
  broken(why: string, asJson: boolean): string {
    return asJson
      ? JSON.stringify({ error: why, ...this.#figures() })
      : `${why}\n${this.#account()}`;
  }

  #stored(body: Wire): void {
    if (body['deduplicated'] === true) this.#before += 1;
    else this.#created += 1;
    this.#last = String(body['task_id']);
    if (this.#first === '') this.#first = this.#last;
    const range = this.#submitted.at(-1);
    if (range !== undefined && range[1] === this.#line - 1) range[1] = this.#line;
    else this.#submitted.push([this.#line, this.#line]);
  }

  #figures(): Record<string, unknown> {
    return {
      submitted: this.submitted,
      submitted_lines: this.#submitted,
      refused_lines: this.#refused.map(({ line }) => line),
      ...(this.#open === undefined ? {} : { unknown_lines: this.#open }),
      request_id_prefix: this.#prefix,
    };
  }

  #account(): string {
    const { length } = this.#refused;
    const count = this.submitted;
    const lines = count === 0 ? '' : ` (line${count === 1 ? '' : 's'} ${textOf(this.#submitted)})`;
    const open = this.#open;
    const unknown =
      open === undefined ? '' : ` Of the lines ${textOf([open])} it is not known: no answer came.`;
    const after = (open?.[1] ?? this.#line) + 1;
    return (
      `${count} ${count === 1 ? 'line is' : 'lines are'} submitted${lines}` +
      `${length === 0 ? '' : `, ${length} refused`}, none from line ${after} on.${unknown}\n` +
      'No line is submitted twice when the same command runs again with' +
      ` --request-id-prefix ${this.#prefix}`
    );
  }
}

const textOf = (ranges: readonly Range[]): string =>
  ranges.map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`)).join(', ');
