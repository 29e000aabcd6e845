// The manual page that the build has made: every flag stands in it, and no formatter finds a fault.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { COMMANDS } from '../../src/cli/commands.ts';
import { shownCommands } from '../../src/cli/completion.ts';
import { cleanEnv } from '../support/server.ts';
import { skip } from '../support/skip.ts';

const PAGE = 'dist/man/leasehold.1';

const said = (program: string, args: readonly string[]) => {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    encoding: 'utf8',
    env: cleanEnv({ MANWIDTH: '80' }),
  });
  return error === undefined ? { status, out: stdout, text: stdout + stderr } : undefined;
};

describe('the manual page', () => {
  it('has every command with every flag, and is part of the package', async () => {
    const page = readFileSync(PAGE, 'utf8').replaceAll('\\-', '-');
    for (const { name, flags } of await shownCommands(COMMANDS, process)) {
      // What stands below a command, as `cluster init`, has a section of its own.
      const isOwn = (section: string) => new RegExp(`^"leasehold ${name}[ "]`).test(section);
      const own = page.split('.SS ').filter(isOwn).join('');
      for (const { long } of flags) expect(own, name).to.include(long);
    }
    const about = JSON.parse(readFileSync('package.json', 'utf8')) as Record<string, string[]>;
    expect(about['man']).to.deep.equal([`./${PAGE}`]);
    expect(about['files']).to.include('dist/man');
  });

  for (const [program, args] of [
    ['groff', ['-ww', '-man', '-Tutf8', '-z', PAGE]],
    // An unreleased version has no date.
    ['mandoc', ['-Tlint', '-Wwarning', PAGE]],
  ] as const) {
    it(`has no fault that ${program} would name`, function () {
      const found = said(program, args);
      if (found === undefined) {
        skip(this, `${program} is missing`);
      }
      const faults = found.text.split('\n').filter((line) => !/^$|missing date/.test(line));
      expect(faults).to.deep.equal([]);
    });
  }

  it('is read by man', function () {
    const found = said('man', ['-l', PAGE]);
    // The containers of some systems have a `man` that only says where pages would be.
    if (found === undefined || !found.out.startsWith('LEASEHOLD(1)')) {
      skip(this, 'man is missing');
    }
    expect(found.out.replaceAll(/\s+/g, ' ')).to.include('Run a command for each task.');
  });
});
