// Holds everything that programs and people see from outside to what is kept under test/golden: the
// answers to every operation and each kind of refusal over HTTP and the socket, the OpenAPI
// document, and the help texts. `npm run golden` writes what they are now; commit a difference only
// when you understand why each line of it changed.

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { OPERATION_NAMES, operationOf } from '../../src/model/operations.ts';
import { REASONS } from '../../src/model/refusal.ts';
import { openApi } from '../../src/protocol/openapi.ts';
import { command } from '../support/command.ts';
import { VERSION } from '../support/memory-server.ts';
import { commandsOf, holdsTo, replayed } from '../support/script.ts';
import { cleanEnv } from '../support/server.ts';
import { Wire } from './wire-play.ts';

const GOLDEN = path.join(process.cwd(), 'test', 'golden');
const SCRIPTS = path.join(GOLDEN, 'wire');
const KNOBS = /^knobs (.*)$/;

function optionsOf(text: string) {
  const [, given] = KNOBS.exec(commandsOf(text)[0] ?? '') ?? [];
  const pairs = (given ?? '').split(' ').filter((pair) => pair !== '');
  const { token, ...flags } = Object.fromEntries(pairs.map((pair) => pair.split('=')));
  return { flags, ...(token === undefined ? {} : { token: String(token) }) };
}

describe('the wire', () => {
  const files = readdirSync(SCRIPTS).filter((name) => name.endsWith('.txt'));

  for (const file of files) {
    it(`answers as it always did: ${file.replace('.txt', '').replaceAll('-', ' ')}`, async () => {
      const kept = path.join(SCRIPTS, file);
      const text = readFileSync(kept, 'utf8');
      const wire = await Wire.open(optionsOf(text));
      try {
        const play = (command: string) =>
          KNOBS.test(command) ? Promise.resolve([]) : wire.play(command);
        holdsTo(kept, await replayed(text, play));
      } finally {
        await wire.close();
      }
    });
  }

  it('is asked for every operation', () => {
    const asked = files.flatMap((file) =>
      commandsOf(readFileSync(path.join(SCRIPTS, file), 'utf8')),
    );
    const missing = OPERATION_NAMES.filter((name) => {
      const { http } = operationOf(name);
      if (http === undefined) return false;
      const route = http.path.replaceAll(/\{\w+\}/g, '[^/? ]+');
      const pattern = new RegExp(`^(& )?${http.method} ${route}([? ]|$)`);
      return !asked.some((command) => pattern.test(command));
    });
    expect(missing).to.deep.equal([]);
  });

  it('is refused for every reason that there is', () => {
    const texts = files.map((file) => readFileSync(path.join(SCRIPTS, file), 'utf8')).join('');
    const missing = Object.keys(REASONS).filter(
      (reason) => !texts.includes(`"reason":"${reason}"`),
    );
    expect(missing).to.deep.equal([]);
  });

  it('is described as it always was', () => {
    const now = `${JSON.stringify(openApi(VERSION), undefined, 2)}\n`;
    holdsTo(path.join(GOLDEN, 'openapi.json'), now);
  });
});

describe('the help texts', () => {
  it('are what they always were', async () => {
    const help = async (...args: string[]): Promise<string> => {
      const { out } = await command([...args, '--help'], { env: cleanEnv() });
      return out;
    };
    const top = await help();
    const commands = [...top.matchAll(/^ {2}([a-z]+) {2,}/gm)].map(([, name]) => String(name));
    expect(commands.length).to.be.greaterThan(15);
    const texts = await Promise.all(commands.map((name) => help(name)));
    const all = [top, ...texts].map((text) => text.trimEnd());
    holdsTo(path.join(GOLDEN, 'help.txt'), `${all.join('\n\n----\n\n')}\n`);
  });
});
