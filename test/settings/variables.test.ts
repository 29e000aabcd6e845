// Which environment variables are told as meaningless: those that are misspelt, and none of those
// that we, or Kubernetes for a Service of our name, have given.

import { expect } from 'chai';
import { KNOB_NAMES, variableOf } from '../../src/settings/knob-table.ts';
import { readSettings } from '../../src/settings/settings.ts';
import { unknownVariables } from '../../src/settings/variables.ts';

const told = (env: Record<string, string>): string => unknownVariables(env).join('\n');

describe('environment variables', () => {
  it('that mean something are not told, and neither are those of others', () => {
    const knobs = Object.fromEntries(KNOB_NAMES.map((name) => [variableOf(name), '1']));
    const ours = ['TOKEN', 'URL', 'CONFIG', 'TASK_ID', 'LEASE_ID', 'ATTEMPT', 'FENCING_TOKEN'];
    const others = Object.fromEntries(ours.map((name) => [`LEASEHOLD_${name}`, 'x']));
    const foreign = { PATH: '/bin', LEASE: '1', MY_LEASEHOLD_URL: 'x', leasehold_url: 'x' };
    expect(told({ ...knobs, ...others, ...foreign })).equal('');
  });

  it('that are misspelt are told with the name that was meant', () => {
    expect(told({ LEASEHOLD_LEASE_DURATION: '5000' }))
      .include('LEASEHOLD_LEASE_DURATION ')
      .and.include('did you mean LEASEHOLD_LEASE_DURATION_MS?');
    expect(told({ LEASEHOLD_ULR: 'http://x' })).include('did you mean LEASEHOLD_URL?');
    expect(told({ LEASEHOLD_TOKEN_FIEL: 'x' })).include('LEASEHOLD_TOKEN_FILE?');
    expect(told({ LEASEHOLD_DATADIR: 'x' })).include('LEASEHOLD_DATA_DIR?');
    expect(told({ LEASEHOLD_SOMETHING_ELSE_ALTOGETHER: 'x' })).not.include('did you mean');
    expect(unknownVariables({ LEASEHOLD_B: '', LEASEHOLD_A: '' })).length(2);
  });

  /** For a Service `leasehold` with two ports, as the kubelet makes them. */
  const service = {
    LEASEHOLD_SERVICE_HOST: '10.96.0.12',
    LEASEHOLD_SERVICE_PORT: '5327',
    LEASEHOLD_SERVICE_PORT_HTTP: '5327',
    LEASEHOLD_SERVICE_PORT_SOCKET: '5328',
    LEASEHOLD_PORT: 'tcp://10.96.0.12:5327',
    LEASEHOLD_PORT_5327_TCP: 'tcp://10.96.0.12:5327',
    LEASEHOLD_PORT_5327_TCP_PROTO: 'tcp',
    LEASEHOLD_PORT_5327_TCP_PORT: '5327',
    LEASEHOLD_PORT_5327_TCP_ADDR: '10.96.0.12',
  };

  it('that Kubernetes makes for a Service of our name are left alone', () => {
    expect(told(service)).equal('');
    const named = Object.fromEntries(
      Object.entries(service).map(([name, value]) => [
        name.replace('LEASEHOLD_', 'LEASEHOLD_HTTP_'),
        value,
      ]),
    );
    expect(told(named)).equal('');
    const { values, sources } = readSettings({ flags: {}, env: named, readFile: () => '' });
    expect(values.httpPort).equal(5_327);
    expect(sources.httpPort, 'it is not ours').equal('default');
  });

  it('that only look alike are told', () => {
    for (const [name, value] of [
      ['LEASEHOLD_PORT', '5327'],
      ['LEASEHOLD_PORT_5327', '1'],
      ['LEASEHOLD_SERVICE', 'x'],
    ]) {
      expect(told({ [String(name)]: String(value) })).include(`${name} has no meaning`);
    }
  });
});
