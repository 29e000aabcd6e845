// Owns the list of stories: the subject of each, and the function that plays it. Each story stops
// before its turning point and asks what will happen.

import type { Play } from './play.ts';
import { reportStories } from './stories-of-reports.ts';
import { coordinatorStories } from './stories-of-the-coordinator.ts';
import { workerStories } from './stories-of-workers.ts';

export interface Story {
  readonly name: string;
  readonly title: string;
  /** Knobs besides the lease duration. */
  readonly knobs?: readonly string[];
  /** @returns the tasks that are explained at the end. */
  play(play: Play): Promise<readonly string[]>;
}

export const STORIES: readonly Story[] = [
  ...workerStories,
  ...coordinatorStories,
  ...reportStories,
];
