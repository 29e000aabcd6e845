// What a call weighs while it is open: about what its answer may come to.

import { expect } from 'chai';
import { weightOf } from '../../actors/socket/methods.ts';
import type { RpcCall } from '../../src/protocol/jsonrpc.ts';

const call = (method: string, params: object = {}): RpcCall => ({
  kind: 'call',
  id: '1',
  method,
  params,
});

const ROWS: readonly (readonly [RpcCall, number])[] = [
  [call('stats'), 1],
  [call('complete', { result: 'r' }), 1],
  [call('task', { task_id: 'T1' }), 17],
  [call('config'), 17],
  [call('tasks'), 129],
  [call('explain', { task_id: 'T1' }), 129],
  [call('lease', { worker_id: 'w' }), 9],
  [call('lease', { worker_id: 'w', max: 1 }), 9],
  [call('lease', { worker_id: 'w', max: 10 }), 81],
  [call('lease', { worker_id: 'w', max: 1_000 }), 257],
  // Nothing of it is known to be well-formed yet.
  [call('lease', { worker_id: 'w', max: '9' }), 9],
  [call('lease', { worker_id: 'w', max: -1 }), 9],
  [call('no such method'), 1],
];

describe('the weight of a call', () => {
  for (const [given, weight] of ROWS) {
    it(`${given.method} ${JSON.stringify(given.params)}: ${weight}, more in a long line`, () => {
      expect(weightOf(given, 0)).to.equal(weight);
      expect(weightOf(given, 32_768)).to.equal(weight + 2);
    });
  }
});
