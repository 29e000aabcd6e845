// Owns what a story is, and the run of one from its first line to its clean-up.

import { LEASE_MS, Play, type Played, type Teller } from './play.ts';
import { type OpenScene, Stage } from './stage.ts';

export interface Story {
  readonly name: string;
  readonly title: string;
  /** Knobs besides the lease duration. */
  readonly knobs?: readonly string[];
  /** @returns the tasks that are explained at the end. */
  play(play: Play): Promise<readonly string[]>;
}

/** @param open by default a coordinator and workers that are processes. */
export async function runStory(
  story: Story,
  teller: Teller,
  open: OpenScene = Stage.open,
): Promise<Played> {
  const knobs = ['--lease-duration-ms', String(LEASE_MS), '--backoff-ms', '0'];
  const stage = await open([...knobs, ...(story.knobs ?? [])]);
  try {
    teller.line(`${story.title} (${story.name})`);
    teller.line('');
    const play = new Play(stage, teller);
    return await play.end(await story.play(play));
  } finally {
    await stage.close();
  }
}
