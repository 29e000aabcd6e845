// Owns the page docs/TWICE.md, which holds the transcripts of all stories as they were played.

import type { Played, Teller } from './play.ts';
import { runStory, type Story } from './run-story.ts';
import type { OpenScene } from './stage.ts';
import { STORIES } from './stories.ts';

export interface Transcript extends Played {
  readonly story: Story;
  readonly lines: readonly string[];
}

/** Plays one story without stopping, and keeps what it tells. */
export async function transcribe(
  story: Story,
  record: Teller['record'],
  open?: OpenScene,
): Promise<Transcript> {
  const lines: string[] = [];
  const teller: Teller = {
    record,
    line: (text) => void lines.push(text),
    guess: async (question) => void lines.push('', `  ? ${question}`, ''),
  };
  return { ...(await runStory(story, teller, open)), story, lines };
}

/** How the statements begin that `explain` makes in the same words of nearly every task. */
export const SAID_OF_MOST = ['The coordinator was not restarted', 'Worker names are advisory'];

/** @param transcripts of all stories, in their order */
export function twicePage(transcripts: readonly Transcript[]): string {
  const said = new Set<string>();
  const parts = transcripts.map(({ story, lines }) => {
    const text = withoutRepeated(lines.slice(2), said).join('\n').trimEnd();
    return `## ${story.title}\n\n\`leasehold story ${story.name}\`\n\n\`\`\`\n${text}\n\`\`\`\n`;
  });
  return `${INTRODUCTION}\n${parts.join('\n')}`;
}

/** @param said the beginnings that the page has already; those of these lines are added */
function withoutRepeated(lines: readonly string[], said: Set<string>): string[] {
  let isRepeated = false;
  return lines.filter((line) => {
    if (isRepeated && line.startsWith('    ')) return false;
    const begin = SAID_OF_MOST.find((one) => line.startsWith(`  - ${one}`));
    isRepeated = begin !== undefined && said.has(begin);
    if (begin !== undefined) said.add(begin);
    return !isRepeated;
  });
}

const INTRODUCTION = `# Why a task ran twice, or did not

These are ${STORIES.length} stories of a task. Each is played against a real coordinator with real
worker processes that are killed, frozen and cut off. \`leasehold story NAME\` plays one of them on
your machine. It stops at each question (\`?\`) until you have answered it for yourself, however
long you think. \`leasehold lab\` gives you a coordinator to try things on.

Each story has three parts: what is sent and answered, the records of the log, and what
\`leasehold explain\` says of the task ([EXPLAIN.md](EXPLAIN.md)). \`mail\` is the queue, \`T2\`
is a task, \`L3\` is a lease, and \`w1\` and \`w2\` are workers; the [glossary](GLOSSARY.md) has
the other words. Two statements that \`explain\` makes of nearly every task stand in the first story
alone: that the coordinator was not restarted, and that worker names are advisory.

\`npm run twice\`, in a clone of the repository, plays all stories and writes this page. A test
plays them again and compares.
`;
