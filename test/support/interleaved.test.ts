// In which order the cases of a bench are measured.

import { expect } from 'chai';
import { interleaved } from '../../bench/harness.ts';

describe('the rounds of a bench', () => {
  it('run forward and backward in turns, so that no case always follows the same one', async () => {
    const order: string[] = [];
    const said: string[] = [];
    const measured = (name: string) => () => order.push(name);
    const cases = {
      before: measured('before'),
      after: measured('after'),
      other: measured('other'),
    };
    const taken = await interleaved({ rounds: 3, say: (text) => said.push(text) }, cases);
    expect(order.join(' ')).to.equal('before after other other after before before after other');
    expect(taken).to.deep.equal({ before: [1, 6, 7], after: [2, 5, 8], other: [3, 4, 9] });
    expect(said[4]).to.equal('round 2 of 3: after');
  });
});
