// Owns what each story is about: the records and answers that it leads to, however it is played.

import { recordLine } from '../../src/model/record-line.ts';
import { runStory, type Story } from '../../src/play/run-story.ts';
import type { OpenScene } from '../../src/play/stage.ts';
import { Telling } from '../../src/play/telling.ts';
import type { Transcript } from '../../src/play/twice-page.ts';

/** The log without starts, and the outcomes of the reports. X: any number of extensions. */
export const STORIES_LEAD_TO: Readonly<
  Record<string, readonly [records: string, answers: string]>
> = {
  'worker-killed': ['C G X E G D', 'COMMITTED COMPLETED'],
  'worker-frozen-and-woken': ['C G X E G N D', 'CANCELLED lease_superseded, COMMITTED COMPLETED'],
  'grant-nobody-received': ['C G E G D', 'COMMITTED COMPLETED'],
  'heartbeats-cut-off': ['C G X E G N D', 'CANCELLED lease_superseded, COMMITTED COMPLETED'],
  'window-reached': ['C G X E G D', 'COMMITTED COMPLETED'],
  'down-longer-than-the-lease': ['C G X E N G D', 'CANCELLED lease_expired, COMMITTED COMPLETED'],
  'down-shorter-than-the-lease': ['C G D', 'COMMITTED COMPLETED'],
  'completion-answer-lost': ['C G D', 'the answer is lost, REJECTED duplicate_report'],
  'failed-after-its-effect': ['C G F G D', 'COMMITTED WAITING, COMMITTED COMPLETED'],
  'killed-then-redriven': ['C G Z N C G D', 'CANCELLED task_dead, COMMITTED COMPLETED'],
  'submitted-twice': ['C C C', ''],
  'two-workers-at-the-boundary': ['C G E G N D', 'CANCELLED lease_superseded, COMMITTED COMPLETED'],
};

const DONE = 'COMMITTED COMPLETED';

/** The same of the experiments in docs/WHY-NOT-KAFKA.md. */
export const EXPERIMENTS_LEAD_TO: Readonly<
  Record<string, readonly [records: string, answers: string]>
> = {
  'one-slow-task': ['C C C C G G D X G D X G D X D', [DONE, DONE, DONE, DONE].join(', ')],
  'one-task-fails': [
    'C C G F G D G F C G D',
    ['COMMITTED WAITING', DONE, 'COMMITTED FAILED', DONE].join(', '),
  ],
  'who-has-it': ['C G E G D', DONE],
  'lost-claim': ['C G E G N D', `CANCELLED lease_superseded, ${DONE}`],
  'more-workers': ['C C C C C G G G G G D D D D D', Array(5).fill(DONE).join(', ')],
  'read-again': ['C G D C G D', `${DONE}, ${DONE}`],
};

/**
 * The learner thinks longer than any lease lasts: every question is answered only when the story
 * has been played to its end.
 */
export async function tellToSlowLearner(story: Story, open?: OpenScene): Promise<Transcript> {
  const telling = new Telling(recordLine);
  const lines: string[] = [];
  const playing = runStory(story, telling, open);
  const played = await telling.tell(playing, {
    read: (line) => void lines.push(line),
    async think(question) {
      await playing;
      lines.push('', `  ? ${question}`, '');
    },
  });
  return { ...played, story, lines };
}
