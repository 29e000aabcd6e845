// What `work` says while its server does not answer.

import { Writable } from 'node:stream';
import { expect } from 'chai';
import { tellTrouble } from '../../src/cli/work-trouble.ts';
import { LeaseholdError, RefusedError } from '../../src/client/errors.ts';
import { TransportFailure } from '../../src/client/transport.ts';
import { WorkerVoice } from '../../src/client/worker-voice.ts';

function listening(): { voice: WorkerVoice; said: string[] } {
  const said: string[] = [];
  const stderr = new Writable({
    write(text, _, done) {
      said.push(String(text));
      done();
    },
  });
  const voice = new WorkerVoice(true);
  tellTrouble(voice, 'http://a:1', stderr);
  return { voice, said };
}

const unreachable = (): LeaseholdError => new LeaseholdError('UNREACHABLE', 'lease: cut off');
const recovering = (): LeaseholdError =>
  new RefusedError('lease', { outcome: 'UNAVAILABLE', reason: 'recovering', record: null });
const answer = (body: unknown) =>
  ({ direction: 'answer', op: 'lease', attempt: 1, body, thread: 'main' }) as const;

describe('work without an answer', () => {
  it('says so once, however long it takes, and that it is over', () => {
    const { voice, said } = listening();
    for (let n = 0; n < 100; n += 1) {
      voice.emit('error', unreachable());
      voice.emit('protocol', { ...answer({}), direction: 'request' });
      voice.emit('protocol', answer({ error: 'cut off' }));
      voice.emit('protocol', answer({ outcome: 'UNAVAILABLE' }));
    }
    const first = 'leasehold: http://a:1: lease: cut off; trying again\n';
    expect(said).to.deep.equal([first]);
    voice.emit('protocol', answer({ leases: [] }));
    voice.emit('protocol', answer({ leases: [] }));
    expect(said).to.deep.equal([first, 'leasehold: http://a:1: it answers again\n']);
    voice.emit('error', unreachable());
    expect(said).to.have.length(3);
  });

  it('takes a server that can decide nothing for one that does not answer', () => {
    const { voice, said } = listening();
    for (const error of [unreachable(), recovering(), recovering()]) voice.emit('error', error);
    voice.emit('protocol', answer({ leases: [] }));
    for (const error of [recovering(), recovering()]) voice.emit('error', error);
    expect(said).to.deep.equal([
      'leasehold: http://a:1: lease: cut off; trying again\n',
      'leasehold: http://a:1: it answers again\n',
      'leasehold: http://a:1: lease: UNAVAILABLE recovering; trying again\n',
    ]);
  });

  it('says what a code of the system means', () => {
    const { voice, said } = listening();
    const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
    const cause = new TransportFailure('connect', false, { cause: refused });
    voice.emit('error', new LeaseholdError('UNREACHABLE', 'lease: connect', { cause }));
    expect(said[0]).to.equal(
      'leasehold: http://a:1: nothing listens there (ECONNREFUSED); trying again\n',
    );
  });

  it('tells every other error each time', () => {
    const { voice, said } = listening();
    for (const id of ['T2', 'T4']) {
      voice.emit('error', new LeaseholdError('REPORT_UNANSWERED', `${id}: no answer`));
    }
    expect(said).to.deep.equal(['leasehold: T2: no answer\n', 'leasehold: T4: no answer\n']);
  });
});
