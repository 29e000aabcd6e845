// docs/PROTOCOL.md names every type of record and every route that there is.

import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { RECORD_TYPES } from '../../src/model/records.ts';
import { Stage } from './support.ts';

const TEXT = readFileSync(new URL('../../../docs/PROTOCOL.md', import.meta.url), 'utf8');

interface OpenApi {
  readonly paths: Record<string, unknown>;
}

describe('the protocol document', () => {
  it('has a row for each type of record', () => {
    for (const type of RECORD_TYPES) expect(TEXT, type).to.include(`\n| ${type} |`);
  });

  it('names every route that the server describes', async () => {
    const stage = await Stage.open();
    try {
      await stage.serve().ready();
      const { body } = await stage.call('GET', '/openapi.json');
      const { paths } = body as unknown as OpenApi;
      const missing = Object.keys(paths).filter((path) => !TEXT.includes(path));
      expect(Object.keys(paths)).to.have.length.greaterThan(15);
      expect(missing).to.deep.equal([]);
    } finally {
      await stage.close();
    }
  });
});
