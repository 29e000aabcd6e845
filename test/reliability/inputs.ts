// Owns what is thrown at the interfaces: calls that are right, nearly right, and not right at all,
// as text put together by hand, so that a key may stand twice and a number be none, and as bytes in
// which something was cut, doubled or replaced. All of it follows from the seed.

import { Random } from '../simulator/random.ts';

type Member = [name: string, text: string];

const TEXTS = [
  '"p"',
  '"T1"',
  '"L2"',
  '""',
  '"error"',
  '"submit"',
  '"\\ud800"',
  '"\\u0000"',
  '"é€😀"',
];
const NUMBERS = ['0', '1', '-1', '1.5', '1e300', '1e999', '9007199254740993', '-0', '01', 'NaN'];
const OTHERS = ['null', 'true', '[]', '{}', '[[[]]]', '{"__proto__":{"a":1}}', '["default",1]', ''];
const STRANGERS = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'priority',
  'payload',
  'op',
];
const STRAY_BYTES = [0x00, 0x22, 0x5c, 0x7b, 0x5d, 0x80, 0xc3, 0xed, 0xff];
const PATHS = [
  '/v1/tasks',
  '/v1/leases',
  '/v1/batch',
  '/v1/log',
  '/v1/stats',
  '/livez',
  '/',
  '/v2',
];
const TYPES = ['application/json', 'text/plain', 'application/x-www-form-urlencoded', 'nonsense/'];

export interface HttpInput {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

const VERBS = [
  'submit',
  'lease',
  'heartbeat',
  'complete',
  'fail',
  'kill',
  'redrive',
  'task',
] as const;
type Verb = (typeof VERBS)[number];

export class Inputs {
  readonly #dice: Random;
  /** Ids are drawn from up to here: most of them were given out by then. */
  greatest = 10;

  constructor(seed: number) {
    this.#dice = new Random(seed, 'inputs');
  }

  /** One line of the socket without its line feed; never blank. */
  line(): Buffer {
    const dice = this.#dice;
    const call = (): string => this.#call(dice.below(1_000_000));
    const several = (): string => Array.from({ length: dice.below(5) }, call).join(',');
    const bytes = this.#damaged(dice.chance(0.1) ? `[${several()}]` : call());
    for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10)) bytes[at] = 0x7c;
    return /[^ \r\t]/.test(bytes.toString('latin1')) ? bytes : Buffer.from('{');
  }

  http(): HttpInput {
    const dice = this.#dice;
    const verb = dice.pick(VERBS);
    const [path, members] = this.#route(verb);
    const several = Array.from({ length: dice.below(4) }, () => this.#inBatch());
    const isBatch = dice.chance(0.1);
    const text = isBatch ? `{"requests":[${several}]}` : object(this.#mutated(members));
    return {
      method: dice.chance(0.9) ? (verb === 'task' ? 'GET' : 'POST') : dice.pick(['PUT', 'GET']),
      path: isBatch ? '/v1/batch' : dice.chance(0.95) ? path : dice.pick(PATHS),
      headers: {
        ...(dice.chance(0.7) && { 'content-type': dice.pick(TYPES) }),
        ...(dice.chance(0.05) && { 'idempotency-key': dice.pick(['k1', 'k2', 'x'.repeat(300)]) }),
      },
      body: dice.chance(0.05) ? Buffer.alloc(0) : this.#damaged(text),
    };
  }

  #call(id: number): string {
    const verb = this.#dice.pick(VERBS);
    const params = object(this.#mutated(this.#fields(verb)));
    const envelope: Member[] = [
      ['jsonrpc', '"2.0"'],
      ['id', String(id)],
      ['method', JSON.stringify(verb)],
      ['params', params],
    ];
    return object(this.#dice.chance(0.1) ? this.#mutated(envelope) : envelope);
  }

  #inBatch(): string {
    const verb = this.#dice.pick(VERBS.slice(0, -1));
    return object(this.#mutated([['op', JSON.stringify(verb)], ...this.#fields(verb)]));
  }

  #route(verb: Verb): [string, Member[]] {
    const named = this.#fields(verb);
    const take = (name: string): string => {
      const at = named.findIndex(([one]) => one === name);
      const [, text] = named.splice(at, 1)[0] as Member;
      const id = this.#dice.chance(0.9) ? text.replaceAll('"', '') : this.#strange();
      return encodeURIComponent(id);
    };
    if (verb === 'submit') return ['/v1/tasks', named];
    if (verb === 'lease') return ['/v1/leases', named];
    if (verb === 'task') return [`/v1/tasks/${take('task_id')}`, []];
    if (verb === 'kill' || verb === 'redrive')
      return [`/v1/tasks/${take('task_id')}/${verb}`, named];
    return [`/v1/leases/${take('lease_id')}/${verb}`, named];
  }

  #fields(verb: Verb): Member[] {
    const dice = this.#dice;
    const id = (letter: string): string => `"${letter}${1 + dice.below(this.greatest)}"`;
    const task: Member = ['task_id', id('T')];
    const lease: Member = ['lease_id', id('L')];
    switch (verb) {
      case 'submit':
        return [
          ['payload', dice.pick(['"p"', '"é"', '""'])],
          ...(dice.chance(0.5) ? ([['queue', '"q"']] as Member[]) : []),
          ...(dice.chance(0.3) ? ([['request_id', `"r${dice.below(500)}"`]] as Member[]) : []),
          ...(dice.chance(0.3) ? ([['retry_policy', '{"max_retries":1}']] as Member[]) : []),
          ...(dice.chance(0.2) ? ([['metadata', '{"a":"b"}']] as Member[]) : []),
        ];
      case 'lease':
        return [
          ['worker_id', '"w"'],
          ['queues', '["default","q"]'],
          ['max', String(dice.between(1, 3))],
          ['wait_ms', '0'],
        ];
      case 'fail':
        return [task, lease, ['reason', '"no"'], ['kind', '"error"']];
      case 'complete':
        return [task, lease, ['result', '"r"']];
      case 'heartbeat':
        return [task, lease];
      default:
        return [task];
    }
  }

  #mutated(members: readonly Member[]): Member[] {
    const dice = this.#dice;
    const mutated = members.map(([name, text]): Member => [name, text]);
    for (let left = dice.pick([0, 0, 1, 1, 2]); left > 0; left -= 1) {
      const at = dice.below(Math.max(1, mutated.length));
      const one = mutated[at];
      const how = dice.pick(['value', 'value', 'remove', 'stranger', 'twice'] as const);
      if (how === 'stranger' || one === undefined) {
        mutated.push([dice.pick(STRANGERS), this.#strange()]);
      } else if (how === 'value') mutated[at] = [one[0], this.#strange()];
      else if (how === 'remove') mutated.splice(at, 1);
      else mutated.push([one[0], dice.chance(0.5) ? one[1] : this.#strange()]);
    }
    return mutated;
  }

  #strange(): string {
    const dice = this.#dice;
    if (dice.chance(0.02)) return `"${'x'.repeat(dice.pick([129, 257, 5_000, 70_000]))}"`;
    if (dice.chance(0.02)) return '['.repeat(40) + ']'.repeat(40);
    return dice.pick(dice.pick([TEXTS, NUMBERS, OTHERS]));
  }

  /** In one of three something is wrong with the bytes. */
  #damaged(text: string): Buffer {
    const dice = this.#dice;
    const bytes = Buffer.from(text);
    if (dice.chance(0.67) || bytes.length === 0) return bytes;
    const at = dice.below(bytes.length);
    const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)];
    switch (dice.pick(['cut', 'flip', 'insert', 'remove', 'double'] as const)) {
      case 'cut':
        return Buffer.from(before);
      case 'flip':
        bytes[at] = (bytes[at] as number) ^ (1 << dice.below(8));
        return bytes;
      case 'insert':
        return Buffer.concat([before, Buffer.of(dice.pick(STRAY_BYTES)), after]);
      case 'remove':
        return Buffer.concat([before, after.subarray(1)]);
      case 'double':
        return Buffer.concat([bytes, after]);
    }
  }
}

const object = (members: readonly Member[]): string =>
  `{${members.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`;
