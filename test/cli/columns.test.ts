// How wide a page is: as the terminal, else as COLUMNS says, else 80; never too narrow to read.

import { expect } from 'chai';
import type { Io } from '../../src/cli/command.ts';
import { columnsOf, tableColumnsOf } from '../../src/cli/words.ts';

type Given = readonly [isTTY: boolean, width: number | undefined, variable?: string];
const io = (...[isTTY, width, variable]: Given) => ({
  stdout: { isTTY, columns: width } as Io['stdout'],
  env: variable === undefined ? {} : { COLUMNS: variable },
});
const columns = (...given: Given): number => columnsOf(io(...given));
const tableColumns = (...given: Given): number => tableColumnsOf(io(...given));

describe('the width of a page', () => {
  it('is that of the terminal', () => {
    expect(columns(true, 132)).equal(132);
    expect(columns(true, 132, '70')).equal(132);
  });

  it('is 80 where there is no terminal, unless COLUMNS says how wide', () => {
    expect(columns(false, undefined)).equal(80);
    expect(columns(false, undefined, '100')).equal(100);
    expect(columns(false, undefined, 'wide')).equal(80);
    // Some terminals say that they have no columns.
    expect(columns(true, 0)).equal(80);
  });

  it('stays within what the server takes', () => {
    expect(columns(true, 20)).equal(60);
    expect(columns(true, 9_999)).equal(400);
  });

  it('has no end for a table that a program reads, unless COLUMNS says how wide', () => {
    expect(tableColumns(false, undefined)).equal(Number.POSITIVE_INFINITY);
    expect(tableColumns(false, undefined, 'wide')).equal(Number.POSITIVE_INFINITY);
    expect(tableColumns(false, undefined, '100')).equal(100);
    expect(tableColumns(true, 132)).equal(132);
    expect(tableColumns(true, 0)).equal(80);
  });
});
