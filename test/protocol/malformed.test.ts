// Every row is a request that must be refused as malformed, with the field that its refusal names.
import { expect } from 'chai';
import type { Op } from '../../src/model/request.ts';
import { parseRequest } from '../../src/protocol/fields-to-request.ts';
import { parseJson } from '../../src/protocol/json.ts';

const limits = { payloadMaxBytes: 100 };
const ask = (verb: Op, text: string) => {
  const json = parseJson(Buffer.from(text));
  return json.kind === 'json' ? parseRequest(verb, json.value, limits) : json;
};

const NUMBERS = ['-1', '1.5', '"3"', '[]', '{}', 'true', 'null', '1e400', '9007199254740993'];
const MEANT = ['0', '3153600000001'];
const IDS = ['5', '{}', '[]', 'null', '""', `"${'w'.repeat(257)}"`, `"${'é'.repeat(129)}"`];
const report = '"task_id":"T1","lease_id":"L2"';

/** verb, text with % for the value, values, field. */
const rows: readonly (readonly [Op, string, readonly string[], string])[] = [
  ['submit', '{"payload":%}', ['5', '{}', '[]', 'true', 'null', '"\\ud800"'], 'payload'],
  ['submit', '{%}', ['', '"queue":"q"'], 'payload'],
  [
    'submit',
    '{"payload_base64":%}',
    ['"***"', '"YQ"', '"YR=="', '"Y Q=="', '"_-8="', '5'],
    'payload_base64',
  ],
  ['submit', '{"payload":"p","payload_base64":%}', ['"YQ=="'], 'payload_base64'],
  [
    'submit',
    '{"payload":"p","execution_window_ms":%}',
    [...NUMBERS, ...MEANT],
    'execution_window_ms',
  ],
  ['submit', '{"payload":"p","delay_ms":%}', [...NUMBERS, '3153600000001'], 'delay_ms'],
  [
    'submit',
    '{"payload":"p","retry_policy":%}',
    ['5', '[]', '"x"', 'true', 'null'],
    'retry_policy',
  ],
  [
    'submit',
    '{"payload":"p","retry_policy":{"max_retries":%}}',
    NUMBERS,
    'retry_policy.max_retries',
  ],
  ['submit', '{"payload":"p","retry_policy":{"backoff_ms":%}}', NUMBERS, 'retry_policy.backoff_ms'],
  [
    'submit',
    '{"payload":"p","retry_policy":{"backoff_max_ms":%}}',
    NUMBERS,
    'retry_policy.backoff_max_ms',
  ],
  [
    'submit',
    '{"payload":"p","retry_policy":{"backoff_factor":%}}',
    ['0.5', '0', '101', '"2"', '1e400'],
    'retry_policy.backoff_factor',
  ],
  ['submit', '{"payload":"p","retry_policy":{%:1}}', ['"__proto__"', '"retries"'], 'retry_policy.'],
  [
    'submit',
    '{"payload":"p","queue":%}',
    ['5', '{}', '""', '"a b"', '"é"', '"a\\n"', `"${'q'.repeat(129)}"`],
    'queue',
  ],
  ['submit', '{"payload":"p","request_id":%}', [...IDS, '"\\udc00"'], 'request_id'],
  [
    'submit',
    '{"payload":"p","metadata":%}',
    [
      '5',
      '"k"',
      '["k"]',
      '{"k":5}',
      '{"a\\nb":5}',
      '{"k":null}',
      '{"__proto__":"x"}',
      '{"\\ud800":"x"}',
      `{"k":"${'v'.repeat(4_096)}"}`,
    ],
    'metadata',
  ],
  ['submit', '{"payload":"p",%:1}', ['"payloads"'], 'payloads'],
  ['submit', '{"payload":"p",%:1}', ['"__proto__"'], '__proto__'],
  ['submit', '{"payload":"p",%:1}', ['"constructor"'], 'constructor'],
  ['submit', '{"payload":"p",%:1}', ['"prototype"'], 'prototype'],
  ['lease', '{%}', ['', '"queues":["q"]'], 'worker_id'],
  ['lease', '{"worker_id":%}', [...IDS, '"\\ud800"'], 'worker_id'],
  [
    'lease',
    '{"worker_id":"w","queues":%}',
    ['[]', '"q"', '[5]', '{}', '[""]', '["a b"]'],
    'queues',
  ],
  ['lease', '{"worker_id":"w","max":%}', [...NUMBERS, '0', '1001'], 'max'],
  ['lease', '{"worker_id":"w","wait_ms":%}', [...NUMBERS, '60001'], 'wait_ms'],
  ['lease', '{"worker_id":"w","capacity":%}', [...NUMBERS, '0'], 'capacity'],
  [
    'heartbeat',
    '{"lease_id":"L2","task_id":%}',
    [
      '1',
      'null',
      '["T1"]',
      '""',
      '"1"',
      '"T0"',
      '"T01"',
      '"t1"',
      '"L1"',
      '" T1"',
      '"T1 "',
      '"T1.0"',
      '"T9007199254740993"',
    ],
    'task_id',
  ],
  [
    'complete',
    '{"task_id":"T1","lease_id":%}',
    ['5', 'null', '"T2"', '"L-nope"', '"L99999999999999999999"'],
    'lease_id',
  ],
  ['complete', `{${report},"result":%}`, ['5', '{}', '[]', 'true', '"\\ud800"'], 'result'],
  ['complete', `{${report},"result":"r","result_base64":%}`, ['"YQ=="'], 'result_base64'],
  [
    'fail',
    `{${report},"reason":%}`,
    ['5', '{}', 'null', '"\\ud800"', `"${'r'.repeat(4_097)}"`, `"${'é'.repeat(2_049)}"`],
    'reason',
  ],
  ['fail', `{${report}%}`, ['', ',"kind":"error"'], 'reason'],
  ['fail', `{${report},"reason":"r","kind":%}`, ['5', '"Error"', 'null'], 'kind'],
  [
    'kill',
    '{"task_id":"T1","reason":%}',
    ['5', '"\\ud800"', `"${'r'.repeat(4_097)}"`, `"${'é'.repeat(2_049)}"`],
    'reason',
  ],
  ['redrive', '{"task_id":"T1",%}', ['"reason":"x"'], 'reason'],
  ['task', '{"task_id":"T1","wait_ms":%}', [...NUMBERS, '60001'], 'wait_ms'],
  ['tasks', '{"limit":%}', [...NUMBERS, '0', '1001'], 'limit'],
  ['tasks', '{"after":%}', ['-1', '1.5', '"5"', '"L5"', '{}'], 'after'],
  ['tasks', '{"request_id":%}', [...IDS, '"\\ud800"'], 'request_id'],
  ['tasks', '{"state":%}', ['"waiting"', '5'], 'state'],
  ['stats', '{%}', ['"x":1'], 'x'],
];

describe('requests refused as malformed, by field', () => {
  for (const [verb, text, values, field] of rows) {
    for (const value of values) {
      const asked = text.replace('%', value);
      it(`${verb} ${asked.length < 90 ? asked : `${asked.slice(0, 90)}…`}`, () => {
        const got = ask(verb, asked) as { reason?: string; field?: string; detail?: string };
        expect(got).to.include({ kind: 'refusal', outcome: 'REJECTED', reason: 'malformed' });
        expect(got.field).to.satisfy((it: string) => it.startsWith(field));
        expect(got.detail).to.be.a('string').and.to.have.length.greaterThan(10);
      });
    }
  }

  for (const text of ['[]', 'null', '5', '"x"', 'true']) {
    it(`a ${text} instead of an object`, () => {
      expect(ask('submit', text)).to.include({ reason: 'malformed' });
    });
  }

  it('hints at the JSON string when a payload is an object', () => {
    const got = ask('submit', '{"payload":{"to":"a"}}') as { detail: string };
    expect(got.detail).to.match(/JSON string/);
  });

  for (const [verb, text, detail] of [
    ['submit', '"max_retries":3', 'There is no field max_retries here, but there is retry_policy.'],
    [
      'submit',
      '"retry_policy":{"delay_ms":1}',
      'There is no field retry_policy.delay_ms here, but',
    ],
    ['submit', '"retry_policy":{"backof_ms":1}', 'did you mean retry_policy.backoff_ms?'],
    ['submit', '"delay":1', 'did you mean delay_ms?'],
    ['submit', '"priority":1', 'There is no field priority here.'],
    ['lease', '"queue":"q"', 'There is no field queue here; did you mean queues?'],
    ['submit', '"queue":"a b/ü😀"', '0-9 . _ : -; " " (character 2) is none of them.'],
    ['submit', '"queue":"😀"', '"😀" (character 1) is none of them.'],
    ['submit', '"queue":"a\\u0007"', 'U+0007 (character 2) is none of them.'],
    ['submit', '"retry_policy":"ü"', '; a string of 1 character was given.'],
    ['submit', '"retry_policy":"😀😀"', '; a string of 2 characters was given.'],
    ['kill', '"task_id":"5"', 'task_id must be a task id, as submit answered it; a string of 1'],
  ] as const) {
    it(`says what was probably meant, or where the fault is: ${verb} ${text}`, () => {
      const needed =
        verb === 'submit' ? '"payload":"p",' : verb === 'lease' ? '"worker_id":"w",' : '';
      const got = ask(verb, `{${needed}${text}}`) as { detail: string };
      expect(got.detail).to.include(detail).and.not.match(/\?\.$/);
    });
  }

  it('shows a long unknown key only in part', () => {
    const got = ask('submit', `{"payload":"p","${'k'.repeat(100_000)}":1}`) as { detail: string };
    expect(got.detail.length).to.be.lessThan(500);
  });
});
