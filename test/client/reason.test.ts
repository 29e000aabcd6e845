// Whatever is thrown has a reason: not empty, not `[object Object]`, within its bound, and looking
// for it never throws.

import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import fc from 'fast-check';
import { codeOf, isPermanentFailure, reasonOf } from '../../src/client/reason.ts';

const withMember = (name: string, value: unknown): Error =>
  Object.assign(new Error('x'), { [name]: value });
const throwing = (name: string): Error =>
  Object.defineProperty(new Error('x'), name, {
    get() {
      throw new Error(`no ${name}`);
    },
  });
const refused = new AggregateError([
  new Error('connect ECONNREFUSED ::1:1'),
  new Error('connect ECONNREFUSED 127.0.0.1:1'),
]);
const circle = new Error('outer');
circle.cause = new Error('inner', { cause: circle });

const EXPECTED: [what: string, thrown: unknown, reason: string][] = [
  ['an error', new Error('it broke'), 'it broke'],
  ['an error without a message', new RangeError(), 'RangeError'],
  ['an error of another realm', runInNewContext('new Error("elsewhere")'), 'elsewhere'],
  ['a text', 'it broke', 'it broke'],
  ['an empty text', '', 'an empty text was thrown'],
  ['undefined', undefined, 'undefined was thrown'],
  ['null', null, 'null was thrown'],
  ['a number', 7, '7'],
  ['a symbol', Symbol('s'), 'Symbol(s)'],
  ['a message that is an object', withMember('message', { code: 7 }), '{"code":7}'],
  ['a message that is a number', withMember('message', 7), '7'],
  ['a message that is a symbol', withMember('message', Symbol('s')), 'Symbol(s)'],
  ['plain facts', { status: 404 }, '{"status":404}'],
  ['a code alone', { code: 'EPIPE' }, 'EPIPE'],
  [
    'a cause',
    new Error('fetch failed', { cause: new Error('no route') }),
    'fetch failed: no route',
  ],
  ['a cause that is a text', new Error('fetch failed', { cause: 'cut' }), 'fetch failed: cut'],
  ['a cause told already', new Error('a: b', { cause: new Error('b') }), 'a: b'],
  [
    'a cause of two addresses',
    new Error('fetch failed', { cause: Object.assign(refused, { code: 'ECONNREFUSED' }) }),
    'fetch failed: ECONNREFUSED: connect ECONNREFUSED ::1:1; connect ECONNREFUSED 127.0.0.1:1',
  ],
  [
    'several errors under a message',
    new AggregateError([new Error('a'), new Error('a'), 'b'], 'all failed'),
    'all failed: a; b',
  ],
  ['half a character', 'cut \ud83d', 'cut \ufffd'],
];

const ODD: [what: string, thrown: unknown][] = [
  ['an object without a prototype', Object.create(null)],
  ['an empty object', {}],
  ['a message that throws', throwing('message')],
  ['a name that throws', throwing('name')],
  ['a cause that throws', throwing('cause')],
  [
    'a toString that throws',
    {
      toString() {
        throw new Error('no text');
      },
    },
  ],
  ['a toString that gives an object', { toString: () => ({}) }],
  [
    'a toJSON that throws',
    {
      toJSON() {
        throw new Error('no JSON');
      },
    },
  ],
  [
    'a proxy that throws at everything',
    new Proxy(
      {},
      {
        get() {
          throw new Error('no');
        },
        has() {
          throw new Error('no');
        },
        getPrototypeOf() {
          throw new Error('no');
        },
        ownKeys() {
          throw new Error('no');
        },
      },
    ),
  ],
  ['a revoked proxy', revoked()],
  ['causes in a circle', circle],
  ['errors in a circle', circular()],
  ['a function', () => {}],
  ['a message of white space', new Error(' \n ')],
];

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

function circular(): AggregateError {
  const error = new AggregateError([], '');
  error.errors.push(error, error);
  return error;
}

const isReason = (text: string): boolean =>
  text.trim() !== '' && Buffer.byteLength(text) <= 4_096 && !text.includes('[object Object]');

describe('the reason of a failure', () => {
  for (const [what, thrown, reason] of EXPECTED) {
    it(`is told of ${what}`, () => expect(reasonOf(thrown)).to.equal(reason));
  }

  for (const [what, thrown] of ODD) {
    it(`is there for ${what}`, () => expect(reasonOf(thrown)).to.satisfy(isReason));
  }

  it('is there for anything at all', () => {
    const values = fc.oneof(
      fc.anything({ withNullPrototype: true, withBigInt: true, withMap: true, withDate: true }),
      fc.anything().map((message) => withMember('message', message)),
      fc.anything().map((cause) => new Error('x', { cause })),
      fc.array(fc.anything()).map((errors) => new AggregateError(errors)),
    );
    fc.assert(fc.property(values, (thrown) => isReason(reasonOf(thrown))));
  });

  it('is cut at the end of a character', () => {
    const reason = reasonOf(new Error(`x${'é'.repeat(4_000)}`));
    expect(reason).to.match(/^xé+$/);
    expect(Buffer.byteLength(reason)).to.be.within(4_094, 4_096);
  });

  it('and its kind are read without harm', () => {
    expect(isPermanentFailure({ name: 'PermanentFailure' })).to.equal(true);
    for (const [, thrown] of [...ODD, ...EXPECTED]) {
      expect(isPermanentFailure(thrown)).to.equal(false);
      expect(codeOf(thrown)).to.not.equal('WRONG_MACHINE');
    }
  });
});
