// Which Node the command line runs on, and that it says so to any other.

import { expect } from 'chai';
import { assertNode } from '../../src/cli/version.ts';

describe('the command line on a Node', () => {
  it('that is too old says which one is needed', () => {
    for (const version of ['20.0.0', '20.8.1', '18.20.4', '9.99.0']) {
      const said = `leasehold: leasehold needs Node 20.9 or newer; this is Node ${version}`;
      expect(() => assertNode(version), version).to.throw(said);
    }
  });

  it('that is new enough runs, also on one before its release', () => {
    const versions = [
      '20.9.0',
      '20.20.2',
      '22.3.0',
      '100.0.0',
      '23.0.0-nightly2024',
      '20.10.0-pre',
    ];
    for (const version of versions) assertNode(version);
  });
});
