// What the commands that operate a cluster say when they were not told where it is.

import { expect } from 'chai';
import { groupsText } from '../../src/cli/cluster-text.ts';
import { etcdSettings } from '../../src/settings/cluster-settings.ts';
import { readKnobs } from '../../src/settings/settings.ts';

describe('where a cluster is', () => {
  const settingsOf = (flags: Record<string, string>) => {
    const readFile = (): string => '';
    return etcdSettings(readKnobs({ flags, env: {}, readFile }).values, readFile);
  };

  it('is told by two settings, and one that is missing is named as what it is for', () => {
    expect(() => settingsOf({})).to.throw('--etcd is needed to find the cluster');
    const etcd = 'http://127.0.0.1:2379';
    expect(() => settingsOf({ etcd })).to.throw('--cluster-name is needed to find the cluster');
    expect(settingsOf({ etcd, clusterName: 'orders' })).to.include({ cluster: 'orders' });
  });
});

describe('what is said of a cluster', () => {
  it('counts one group of records as one', () => {
    expect([0, 1, 2].map(groupsText)).to.deep.equal([
      '0 groups of records',
      '1 group of records',
      '2 groups of records',
    ]);
  });
});
