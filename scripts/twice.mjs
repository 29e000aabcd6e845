// Plays all stories and writes docs/TWICE.md. Needs `npm run build` before.
import { writeFileSync } from 'node:fs';

const { recordLine } = await import('../dist/src/model/record-line.js');
const { STORIES } = await import('../dist/src/play/stories.js');
const { transcribe, twicePage } = await import('../dist/src/play/twice-page.js');

const transcripts = [];
for (const story of STORIES) {
  process.stderr.write(`${story.name}\n`);
  transcripts.push(await transcribe(story, recordLine));
}
writeFileSync(new URL('../docs/TWICE.md', import.meta.url), twicePage(transcripts));
