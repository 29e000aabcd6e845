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

/** @param transcripts of all stories, in their order */
export function twicePage(transcripts: readonly Transcript[]): string {
  const parts = transcripts.map(({ story, lines }) => {
    const text = lines.slice(2).join('\n').trimEnd();
    return `## ${story.title}\n\n\`leasehold story ${story.name}\`\n\n\`\`\`\n${text}\n\`\`\`\n`;
  });
  return `${INTRODUCTION}\n${parts.join('\n')}`;
}

const INTRODUCTION = `# Why a task ran twice, or did not

${STORIES.length} stories, each played against a real coordinator with real worker processes that
are killed, frozen and cut off. \`leasehold story NAME\` plays one of them on your machine and
stops at each question (\`?\`) until you have answered it for yourself, however long you think.
\`leasehold lab\` gives you a coordinator to try things on. What follows was printed by
\`npm run twice\`, which plays all of them; a test plays them again and compares. The words are in
the [glossary](GLOSSARY.md), the last part of each story is explained in
[EXPLAIN.md](EXPLAIN.md).
`;
