// The completion scripts: they name every command and flag that there is, bash completes by them,
// and zsh and fish can read theirs where they are installed.

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { COMMANDS } from '../../src/cli/commands.ts';
import { shownCommands } from '../../src/cli/completion.ts';
import { EXECUTABLE } from '../../src/play/demo/processes.ts';
import { skip } from '../support/skip.ts';

const scripts = new Map<string, string>();
function scriptFor(shell: string): string {
  const script =
    scripts.get(shell) ??
    execFileSync(process.execPath, [EXECUTABLE, 'completion', shell], { encoding: 'utf8' });
  scripts.set(shell, script);
  return script;
}

describe('completion', () => {
  /** What bash offers when these words are typed and the last one is to be completed. */
  function offered(...words: string[]): string[] {
    const typed = ['leasehold', ...words].map((word) => `'${word}'`).join(' ');
    const ask = `COMP_WORDS=(${typed}); COMP_CWORD=${words.length}; _leasehold`;
    const script = `${scriptFor('bash')}\n${ask}; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8' });
    expect(stderr).equal('');
    return stdout.split('\n').filter((line) => line !== '');
  }

  it('in bash offers commands, their flags, and what a flag can be', function () {
    if (spawnSync('bash', ['--version']).error !== undefined) skip(this, 'there is no bash');
    expect(offered('sub')).deep.equal(['submit']);
    expect(offered('he')).deep.equal(['heartbeat', 'help']);
    expect(offered('help', 'expl')).deep.equal(['explain']);
    expect(offered('submit', '--max')).deep.equal(['--max-retries']);
    expect(offered('fail', 'L3', 'reason', '--ki')).deep.equal(['--kind']);
    expect(offered('fail', 'L3', '--kind', '')).deep.equal(['error', 'permanent', 'released']);
    expect(offered('tasks', '--state', 'W')).deep.equal(['WAITING']);
    expect(offered('completion', '')).include.members(['bash', 'zsh', 'fish']);
    expect(offered('submit', '--queue', '')).deep.equal([]);
    expect(offered('verify', '--data-dir', '/et')).deep.equal(['/etc']);
  });

  it('names every command and every flag, for each shell', async () => {
    const commands = await shownCommands(COMMANDS, process);
    expect(commands.length).above(20);
    expect(commands.flatMap(({ flags }) => flags).length).above(100);
    for (const shell of ['bash', 'zsh', 'fish']) {
      const script = scriptFor(shell);
      for (const { name, flags } of commands) {
        expect(script, shell).match(RegExp(`\\b${name}\\b`));
        for (const { long } of flags) {
          expect(script, `${shell} ${name}`).include(
            shell === 'fish' ? `-l ${long.slice(2)} ` : long,
          );
        }
      }
    }
  });

  const dir = mkdtempSync(path.join(tmpdir(), 'leasehold-completion-'));
  after(() => rmSync(dir, { recursive: true }));
  function written(shell: string): string {
    const file = path.join(dir, shell);
    writeFileSync(file, scriptFor(shell));
    return file;
  }

  for (const shell of ['bash', 'zsh', 'fish']) {
    it(`can be read by ${shell}`, function () {
      const { error, status, stderr } = spawnSync(shell, ['-n', written(shell)]);
      if (error !== undefined) skip(this, `${shell} is not installed`);
      expect([status, String(stderr)]).deep.equal([0, '']);
    });
  }

  it('in fish offers the same', function () {
    const ask = (typed: string): string[] => {
      const script = `source ${written('fish')}; complete -C '${typed}'`;
      const env = { ...process.env, HOME: dir };
      const { error, stdout } = spawnSync('fish', ['-c', script], { encoding: 'utf8', env });
      if (error !== undefined) skip(this, 'fish is not installed');
      return stdout.split('\n').map((line) => line.split('\t')[0] ?? '');
    };
    expect(ask('leasehold subm')).include('submit');
    expect(ask('leasehold submit --max')).include('--max-retries');
    expect(ask('leasehold tasks --state W')).include('WAITING');
  });

  it('is refused for a shell that it does not know', () => {
    const { status, stderr } = spawnSync(process.execPath, [EXECUTABLE, 'completion', 'csh'], {
      encoding: 'utf8',
    });
    expect([status, stderr.includes('csh')]).deep.equal([2, true]);
  });
});
