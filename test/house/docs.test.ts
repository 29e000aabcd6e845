// Holds README.md and docs/ to what there is: links lead somewhere, and the commands that a reader
// is told to type exist, each with the flags that it is shown with.

import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { Command } from 'commander';
import type { Define } from '../../src/cli/command.ts';
import { SCENARIOS, UNDISTURBED } from '../../src/rehearse/scenarios.ts';
import { files } from './sources.ts';

const PAGES = files.filter(({ path: name }) =>
  /^(README|docs\/(internals\/)?[A-Z-]+)\.md$/.test(name),
);
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  scripts: Record<string, string>;
};

/** What stands as code: whole blocks, and pieces between backticks. */
function codeOf(text: string): string[] {
  const blocks = [...text.matchAll(/^```\w*\n([\s\S]*?)^```/gm)].flatMap(([, code]) =>
    String(code).split('\n'),
  );
  const indented = text.split('\n').filter((line) => line.startsWith('    '));
  const inline = [...text.replace(/^```[\s\S]*?^```/gm, '').matchAll(/`([^`]+)`/g)];
  return [...blocks, ...indented, ...inline.map(([, code]) => String(code).replace(/\s+/g, ' '))];
}

interface Call {
  readonly command: string;
  readonly flags: readonly string[];
}

/** The calls of the command line in a piece of code, up to a comment, a pipe or another command. */
function callsIn(code: string): Call[] {
  const bare = code.replace(/'[^']*'|"[^"]*"/g, 'TEXT');
  return [...bare.matchAll(/(?:^|[\s$(])leasehold ([a-z]+)\b([^#|;&]*)/g)].map(
    ([, command = '', rest = '']) => ({ command, flags: rest.match(/--[a-z-]+/g) ?? [] }),
  );
}

/** @returns the flags of a command, or undefined: there is none of that name. */
async function flagsOf(name: string): Promise<ReadonlySet<string> | undefined> {
  if (!existsSync(path.join('src', 'cli', `${name}.ts`))) return undefined;
  const command = new Command(name);
  const { define } = (await import(`../../src/cli/${name}.js`)) as { define?: Define };
  define?.(command, process);
  const options = [command, ...command.commands].flatMap((one) => one.options);
  return new Set(['--help', ...options.flatMap(({ long }) => (long ? [long] : []))]);
}

async function wrongIn(text: string): Promise<string[]> {
  const wrong: string[] = [];
  for (const { command, flags } of codeOf(text).flatMap(callsIn)) {
    const known = await flagsOf(command);
    if (known === undefined) wrong.push(`leasehold ${command}`);
    for (const flag of flags) if (known?.has(flag) === false) wrong.push(`${command} ${flag}`);
  }
  return wrong;
}

describe('the documents', () => {
  it('are all looked at', () => {
    expect(PAGES.length).to.be.greaterThan(12);
    expect(PAGES.flatMap(({ text }) => codeOf(text).flatMap(callsIn)).length).greaterThan(60);
  });

  it('link to what exists', () => {
    const dead = PAGES.flatMap(({ path: page, text }) =>
      [...text.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)]
        .map(([, link]) => String(link))
        .filter((link) => !/^https?:/.test(link))
        .filter((link) => !existsSync(path.join(path.dirname(page), link)))
        .map((link) => `${page}: ${link}`),
    );
    expect(dead).to.deep.equal([]);
  });

  it('name to users no part of the repository that the package leaves out', () => {
    const leftOut =
      /(?<![\w/.@-])(?:src|actors|test|bench|scripts|tools|\.ci|docs\/internals)\/?(?=[\w*`])/g;
    const named = PAGES.filter(({ path: page }) => !page.startsWith('docs/internals/')).flatMap(
      ({ path: page, text }) =>
        [...text.matchAll(leftOut)]
          .filter(([name]) => name.endsWith('/') || name.startsWith('docs/'))
          .map(([name]) => `${page}: ${name}`),
    );
    expect(named).to.deep.equal([]);
  });

  it('stand in the index, each with its reader', () => {
    const named = PAGES.filter(({ path: page }) => /^docs\/(.*\/)?README\.md$/.test(page)).flatMap(
      ({ path: page, text }) =>
        [...text.matchAll(/\]\(([\w./-]+\.md)\)/g)]
          .map(([, link]) => path.posix.join(path.dirname(page), String(link)))
          .filter((link) => !link.endsWith('README.md')),
    );
    const pages = PAGES.map(({ path: page }) => page).filter((page) => !page.endsWith('README.md'));
    expect(named).to.have.members(pages);
  });

  it('show figures of speed that PERFORMANCE.md has, too', () => {
    const text = (page: string): string => readFileSync(path.join('docs', page), 'utf8');
    const rows = text('WHICH-ONE.md').match(/^\|.*\b\d \d{3}\b.*\|$/gm) ?? [];
    const measured = text('PERFORMANCE.md').split('\n');
    expect(rows).to.have.length.greaterThan(9);
    expect(rows.filter((row) => !measured.includes(row))).to.deep.equal([]);
  });

  it('name scripts of package.json that exist', () => {
    const missing = PAGES.flatMap(({ path: page, text }) =>
      [...text.matchAll(/npm run (?:-s )?([a-z][\w:-]*)(?!\w)/g)]
        .map(([, name]) => String(name))
        .filter((name) => !(name in scripts))
        .map((name) => `${page}: npm run ${name}`),
    );
    expect(missing).to.deep.equal([]);
  });

  it('have the headings to which a rehearsal sends its reader', () => {
    const missing = [UNDISTURBED, ...SCENARIOS].filter(({ page: place }) => {
      const [, page, heading] = /^(docs\/[A-Z-]+\.md), "(.+)"$/.exec(place) ?? [];
      const lines = PAGES.find(({ path: name }) => name === page)?.text.split('\n') ?? [];
      return !lines.some((line) => line.startsWith('#') && line.replace(/^#+ /, '') === heading);
    });
    expect(missing.map(({ name, page }) => `${name}: ${page}`)).to.deep.equal([]);
  });

  for (const { path: page, text } of PAGES) {
    it(`${page} shows commands and flags that exist`, async () => {
      expect(await wrongIn(text)).to.deep.equal([]);
    });
  }

  it('would be found out', async () => {
    const text =
      'Say `leasehold sumbit`, or\n\n```sh\nnpx leasehold log --folow | head --lines 2\n```\n';
    expect(await wrongIn(text)).to.have.members(['log --folow', 'leasehold sumbit']);
  });
});
