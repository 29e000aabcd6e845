// How a refusal reads on a terminal.

import { expect } from 'chai';
import { refusalText } from '../../src/cli/refusals.ts';

describe('a refusal as commands print it', () => {
  const refusal = {
    outcome: 'UNAVAILABLE',
    reason: 'not_leader',
    detail: 'This node follows.',
    record: null,
  };

  it('names the flag behind which a name was written', () => {
    const detail = 'queues.0 must be the name of a queue; " " (character 2) is none of them.';
    expect(refusalText({ ...refusal, detail })).to.include(': --queue must be the name of a queue');
  });

  it('ends with one full stop, and with none behind a question', () => {
    const said = (detail: string): string => refusalText({ ...refusal, detail });
    expect(said('no task T9 is remembered')).to.match(/ remembered\.$/);
    expect(said('This node follows.')).to.match(/ follows\.$/);
    expect(said('did you mean queues?')).to.match(/ queues\?$/);
  });

  it('says which node leads, when the server knows it', () => {
    const leader = 'http://a.example:5327';
    expect(refusalText({ ...refusal, leader })).to.equal(
      'UNAVAILABLE not_leader: This node follows. leader: http://a.example:5327',
    );
    expect(refusalText(refusal)).to.equal('UNAVAILABLE not_leader: This node follows.');
  });
});
