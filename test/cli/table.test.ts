// Tables fit their width whatever the names in them are made of.

import { expect } from 'chai';
import fc from 'fast-check';
import { type Column, cutEnd, cutMiddle, fittedTable, widthOf } from '../../src/cli/table.ts';

interface Row {
  readonly name: string;
  readonly count: number;
  readonly more: string;
}
const COLUMNS: readonly Column<Row>[] = [
  { head: 'name', value: ({ name }) => name, least: 6 },
  { head: 'count', value: ({ count }) => String(count), isNumber: true },
  { head: 'more', value: ({ more }) => more, least: 5 },
];
const MARK = '\u200e';

const names = fc.string({ unit: 'grapheme', maxLength: 60 });
const rows = fc.array(fc.record({ name: names, count: fc.nat(), more: names }), { maxLength: 8 });

describe('a fitted table', () => {
  it('is no wider than it may be, and says when something was cut', () => {
    fc.assert(
      fc.property(rows, fc.integer({ min: 30, max: 200 }), (given, width) => {
        const { lines, isCut } = fittedTable(COLUMNS, given, width);
        expect(lines).to.have.length(given.length + 1);
        for (const line of lines) {
          expect(widthOf(line)).to.be.at.most(width);
          expect(line).not.to.match(/[\n\t]/);
        }
        if (!isCut) {
          const whole = fittedTable(COLUMNS, given, 10_000).lines;
          expect(lines).to.deep.equal(whole);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('keeps its columns under their heads beside wide characters and marks', () => {
    const { lines } = fittedTable(
      COLUMNS,
      [
        { name: '日本', count: 1, more: 'x' },
        { name: 'a\u0301b', count: 22, more: 'y' },
        { name: 'plain', count: 333, more: 'z' },
      ],
      80,
    );
    const places = lines.map((line) => widthOf(line.slice(0, line.search(/(more|[xyz])$/))));
    expect(new Set(places).size, lines.join('\n')).to.equal(1);
  });

  it('ends a text from right to left, so that the columns after it stay where they are', () => {
    const row = { name: 'عامل', count: 5, more: 'שלום' };
    const { lines } = fittedTable(COLUMNS, [row], 80);
    expect(lines[1]).to.equal(`عامل${MARK}      5  שלום${MARK}`);
    // Whoever chose the name cannot turn the line himself.
    const evil = fittedTable(COLUMNS, [{ ...row, name: 'a\u202eb\u2066' }], 80);
    expect(evil.lines[1]).not.to.match(/[\u202a-\u202e\u2066-\u2069]/);
  });

  it('cuts only the columns that may be cut, the widest first', () => {
    const row = { name: 'tenant-17:resize-images', count: 123_456, more: 'short' };
    const { lines, isCut } = fittedTable(COLUMNS, [row], 28);
    expect(isCut).to.equal(true);
    expect(lines[1]).to.contain('123456').and.to.contain('short').and.to.contain('…');
    expect(widthOf(lines[1] as string)).to.equal(28);
  });

  it('cuts a name in its middle, and a line at its end', () => {
    expect(cutMiddle('tenant-0001', 7)).to.equal('ten…001');
    expect(cutMiddle('tenant-0001', 11)).to.equal('tenant-0001');
    expect(widthOf(cutMiddle('日本日本日本', 6))).to.be.at.most(6);
    expect(cutEnd('0123456789', 5)).to.equal('0123…');
    expect(cutEnd('日本日本', 4)).to.equal('日…');
  });
});
