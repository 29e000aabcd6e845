// What a worker tells of its trouble when nobody listens.

import { expect } from 'chai';
import { LeaseholdError, RefusedError } from '../../src/client/errors.ts';
import { WorkerVoice } from '../../src/client/worker-voice.ts';

type Warning = Error & { readonly code?: string };

const unreachable = (): LeaseholdError => new LeaseholdError('UNREACHABLE', 'lease: cut off');
const recovering = (): LeaseholdError =>
  new RefusedError('lease', { outcome: 'UNAVAILABLE', reason: 'recovering', record: null });
const answer = (body: unknown) =>
  ({ direction: 'answer', op: 'lease', attempt: 1, body, thread: 'main' }) as const;

describe('a worker to whose errors nobody listens', () => {
  const warnings: Warning[] = [];
  const heard = (warning: Warning): void => void warnings.push(warning);
  /** Node tells warnings in the next turn. */
  const said = async (): Promise<string[]> => {
    await new Promise((resolve) => setImmediate(resolve));
    return warnings.splice(0).map(({ name, code, message }) => `${name} ${code} ${message}`);
  };
  before(() => process.on('warning', heard));
  after(() => process.off('warning', heard));

  it('warns once of a server that does not answer, and says that it is over', async () => {
    const voice = new WorkerVoice(false);
    for (let n = 0; n < 100; n += 1) {
      voice.emit('error', unreachable());
      voice.emit('protocol', { ...answer({}), direction: 'request' });
      voice.emit('protocol', answer({ error: 'cut off' }));
      voice.emit('protocol', answer({ outcome: 'UNAVAILABLE' }));
    }
    expect(await said()).to.deep.equal([
      'LeaseholdWarning UNREACHABLE lease: cut off; trying again',
    ]);
    voice.emit('protocol', answer({ leases: [] }));
    voice.emit('protocol', answer({ leases: [] }));
    expect(await said()).to.deep.equal(['LeaseholdWarning REACHABLE the server answers again']);
    voice.emit('error', unreachable());
    expect(await said()).to.have.length(1);
  });

  it('ends the sentence of a server in its own', async () => {
    const detail = 'The log takes no records.';
    const refused = { outcome: 'UNAVAILABLE', reason: 'log_unavailable', record: null } as const;
    new WorkerVoice(false).emit('error', new RefusedError('lease', { ...refused, detail }));
    expect(await said()).to.deep.equal([
      'LeaseholdWarning REFUSED lease: UNAVAILABLE log_unavailable: The log takes no records; ' +
        'trying again',
    ]);
  });

  it('takes a server that can decide nothing for one that does not answer', async () => {
    const voice = new WorkerVoice(false);
    const refusal = { outcome: 'UNAVAILABLE', reason: 'recovering' };
    voice.emit('error', unreachable());
    for (let n = 0; n < 3; n += 1) {
      voice.emit('protocol', answer(refusal));
      voice.emit('error', recovering());
    }
    voice.emit('protocol', answer({ leases: [] }));
    voice.emit('protocol', answer(refusal));
    voice.emit('error', recovering());
    voice.emit('error', unreachable());
    expect(await said()).to.deep.equal([
      'LeaseholdWarning UNREACHABLE lease: cut off; trying again',
      'LeaseholdWarning REACHABLE the server answers again',
      'LeaseholdWarning REFUSED lease: UNAVAILABLE recovering; trying again',
    ]);
  });

  it('warns each time of what is no outage', async () => {
    const voice = new WorkerVoice(false);
    for (const id of ['T2', 'T4']) {
      voice.emit('error', new LeaseholdError('REPORT_UNANSWERED', `${id}: no answer`));
    }
    expect(await said()).to.deep.equal([
      'LeaseholdWarning REPORT_UNANSWERED T2: no answer',
      'LeaseholdWarning REPORT_UNANSWERED T4: no answer',
    ]);
  });

  it('leaves every error to those who listen', async () => {
    const voice = new WorkerVoice(false);
    let errors = 0;
    voice.on('error', () => void (errors += 1));
    for (let n = 0; n < 3; n += 1) voice.emit('error', unreachable());
    voice.emit('protocol', answer({ leases: [] }));
    expect(errors).to.equal(3);
    expect(await said()).to.deep.equal([]);
  });
});
