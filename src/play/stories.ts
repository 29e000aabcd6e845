// Owns the list of stories: the subject of each, and the function that plays it. Each story stops
// before its turning point and asks what will happen.

import type { Story } from './run-story.ts';
import { reportStories } from './stories-of-reports.ts';
import { coordinatorStories } from './stories-of-the-coordinator.ts';
import { workerStories } from './stories-of-workers.ts';

export const STORIES: readonly Story[] = [
  ...workerStories,
  ...coordinatorStories,
  ...reportStories,
];
