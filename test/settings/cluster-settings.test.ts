// What the knobs of a cluster must be together, and the files that they name.

import { expect } from 'chai';
import type { KnobName } from '../../src/settings/knob-table.ts';
import { KnobError, readSettings } from '../../src/settings/settings.ts';

type Flags = Partial<Record<KnobName, string>>;

const NODE: Flags = {
  etcd: 'http://10.0.0.1:2379, http://10.0.0.2:2379',
  clusterName: 'orders',
  nodeName: 'a',
  advertiseUrl: 'http://10.0.0.1:5327/',
};
const FILES: Readonly<Record<string, string>> = {
  ca: 'CA',
  cert: 'CERT',
  key: 'KEY',
  user: 'root:pass:word\n',
  nobody: 'root',
};

const read = (more: Flags = {}, left: readonly KnobName[] = []) => {
  const flags = Object.fromEntries(
    Object.entries({ ...NODE, ...more }).filter(([name]) => !left.includes(name as KnobName)),
  );
  return readSettings({
    flags,
    env: {},
    readFile(path) {
      const content = FILES[path];
      if (content === undefined) throw new Error(`ENOENT: no such file, open '${path}'`);
      return content;
    },
  }).cluster;
};

describe('the settings of a cluster', () => {
  it('are none where no etcd is named, whatever else is', () => {
    expect(read({}, ['etcd'])).to.equal(undefined);
    expect(read({ leaderSilenceMs: '1' }, ['etcd'])).to.equal(undefined);
  });

  it('are those of the flags, with the documented defaults', () => {
    expect(read()).to.deep.equal({
      urls: ['http://10.0.0.1:2379', 'http://10.0.0.2:2379'],
      cluster: 'orders',
      node: 'a',
      url: 'http://10.0.0.1:5327',
      callMs: 500,
      silenceMs: 1_500,
      beatMs: 300,
      tailMaxBytes: 536_870_912,
    });
  });

  it('hold what the files hold', () => {
    const tls = {
      etcdCaFile: 'ca',
      etcdCertFile: 'cert',
      etcdKeyFile: 'key',
      etcdUserFile: 'user',
    };
    const settings = read({ ...tls, etcd: 'https://m0:2379' });
    expect(settings).to.deep.include({ ca: 'CA', cert: 'CERT', key: 'KEY' });
    expect(settings?.user).to.deep.equal({ name: 'root', password: 'pass:word' });
  });

  const refusals: readonly (readonly [
    what: string,
    given: Flags,
    left: KnobName[],
    why: RegExp,
  ])[] = [
    ['no cluster', {}, ['clusterName'], /^--cluster-name is needed/],
    ['no node', {}, ['nodeName'], /^--node-name is needed/],
    ['no URL', {}, ['advertiseUrl'], /^--advertise-url is needed/],
    ['a name with a slash', { clusterName: 'a/b' }, [], /^--cluster-name: "a\/b" is not a name/],
    ['a long name', { nodeName: 'n'.repeat(64) }, [], /^--node-name: /],
    ['an etcd that is no URL', { etcd: 'm0:2379' }, [], /^--etcd: "m0:2379" is not http/],
    ['an empty place in the list', { etcd: 'http://m0:2379,' }, [], /^--etcd: "" is not http/],
    ['a path', { etcd: 'http://m0:2379/v3' }, [], /^--etcd: /],
    ['a user in a URL', { etcd: 'http://u:p@m0:2379' }, [], /^--etcd: /],
    ['a URL of a socket', { advertiseUrl: 'tcp://a:5328' }, [], /^--advertise-url: /],
    ['plain and TLS', { etcd: 'http://m0:1,https://m1:1' }, [], /either all URLs begin with/],
    ['a certificate without TLS', { etcdCaFile: 'ca' }, [], /used for https: only/],
    [
      'a certificate without its key',
      { etcd: 'https://m0:1', etcdCertFile: 'cert' },
      [],
      /given together/,
    ],
    ['a file that is not there', { etcdUserFile: 'none' }, [], /^--etcd-user-file none: /],
    ['a user without a password', { etcdUserFile: 'nobody' }, [], /must hold USER:PASSWORD/],
    ['a silence of two beats', { leaderSilenceMs: '599ms' }, [], /599 is less than 900 ms/],
    [
      'a silence that is too short',
      { leaderSilenceMs: '400', leaderBeatMs: '10' },
      [],
      /400 is less than 500 ms/,
    ],
  ];
  for (const [what, given, left, why] of refusals) {
    it(`are refused with ${what}`, () => {
      expect(() => read(given, left)).to.throw(KnobError, why);
    });
  }
});
