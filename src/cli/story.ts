// Owns `story`: plays the possible fates of a task on a real coordinator with real processes. The
// telling stops before each turning point so that the learner can say what will happen.

import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import { recordLine } from '../model/record-line.ts';
import { EXPERIMENTS } from '../play/experiments.ts';
import { runStory, type Story } from '../play/run-story.ts';
import { STORIES } from '../play/stories.ts';
import { type Learner, Telling } from '../play/telling.ts';
import { type Io, say, usage } from './command.ts';

/** As a shell has it for Ctrl-C. */
const INTERRUPTED = 130;
const ALL: readonly Story[] = [...STORIES, ...EXPERIMENTS];

interface Options {
  readonly yes?: true;
  readonly all?: true;
}

export function define(command: Command, io: Io): void {
  command
    .argument('[name]', 'the story to play; without a name the stories are listed')
    .option('--yes', 'do not wait for an answer to the questions')
    .option('--all', 'play all stories, one after the other')
    .action((name: string | undefined, options: Options) => tell(name, options, io));
}

async function tell(name: string | undefined, options: Options, io: Io): Promise<void> {
  const chosen = options.all === true ? ALL : choose(name);
  if (chosen.length === 0) return list(io);
  const wait = options.yes !== true && io.stdin.isTTY;
  // An exit in order takes the story's processes along; the signal itself would not.
  process.once('SIGTERM', () => process.exit(143)).once('SIGINT', () => process.exit(INTERRUPTED));
  for (const story of chosen) {
    const telling = new Telling(recordLine);
    await telling.tell(runStory(story, telling), learnerAt(io, wait));
    say(io.stdout, '');
  }
}

function choose(name: string | undefined): readonly Story[] {
  if (name === undefined) return [];
  const story = ALL.find((one) => one.name === name);
  if (story !== undefined) return [story];
  throw usage(`there is no story ${JSON.stringify(name)}; \`leasehold story\` lists them`);
}

function list({ stdout }: Io): void {
  const width = Math.max(...ALL.map(({ name }) => name.length));
  const print = ({ name, title }: Story): void => say(stdout, `${name.padEnd(width)}  ${title}`);
  STORIES.forEach(print);
  say(stdout, '\nThe experiments that compare it with Kafka (docs/WHY-NOT-KAFKA.md):\n');
  EXPERIMENTS.forEach(print);
}

function learnerAt({ stdin, stdout }: Io, wait: boolean): Learner {
  return {
    read: (line) => say(stdout, line),
    async think(question) {
      say(stdout, `\n  ? ${question}`);
      if (!wait) return say(stdout, '');
      const reader = createInterface({ input: stdin, output: stdout });
      reader.once('SIGINT', () => process.exit(INTERRUPTED));
      // Who closes the input (Ctrl-D) has no more to say: the story is told to its end.
      const isClosed = once(reader, 'close');
      await Promise.race([reader.question('    (think, then press Enter) '), isClosed]);
      reader.close();
    },
  };
}
