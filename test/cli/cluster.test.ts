// What the commands that operate a cluster say when they were not told where it is.

import { expect } from 'chai';
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
