// Owns which commands there are. A command's own file is loaded only when it is asked for, so that
// starting is quick.

import type { Define } from './command.ts';

export interface Entry {
  readonly summary: string;
  load(): Promise<{ readonly define: Define }>;
}

/** By name, in the order of the help. */
export const COMMANDS: Readonly<Record<string, Entry>> = {
  serve: { summary: 'run a coordinator', load: () => import('./serve.ts') },
  submit: { summary: 'submit a task, or one task a line', load: () => import('./submit.ts') },
  lease: { summary: "a worker's part by hand: ask for tasks", load: () => import('./lease.ts') },
  heartbeat: { summary: 'keep a lease', load: () => import('./heartbeat.ts') },
  complete: { summary: "report a lease's success", load: () => import('./complete.ts') },
  fail: { summary: "report a lease's failure", load: () => import('./fail.ts') },
  work: { summary: 'run a command for each task', load: () => import('./work.ts') },
  task: { summary: 'show one task', load: () => import('./task.ts') },
  tasks: { summary: 'list tasks', load: () => import('./tasks.ts') },
  explain: { summary: 'tell why a task is where it is', load: () => import('./explain.ts') },
  log: { summary: 'show the newest records', load: () => import('./log.ts') },
  verify: { summary: 'check every record of a data directory', load: () => import('./verify.ts') },
  state: { summary: 'show the state after any record', load: () => import('./state.ts') },
  backup: { summary: 'copy a data directory', load: () => import('./backup.ts') },
  lab: { summary: 'a coordinator to play with, its log printed', load: () => import('./lab.ts') },
  story: { summary: 'what can happen to a task, played', load: () => import('./story.ts') },
  rehearse: {
    summary: 'try your worker against what can go wrong',
    load: () => import('./rehearse.ts'),
  },
  transitions: {
    summary: 'show from which table the core decides',
    load: () => import('./transitions.ts'),
  },
  stats: { summary: 'show counts', load: () => import('./stats.ts') },
  kill: { summary: 'end tasks for good', load: () => import('./kill.ts') },
  redrive: { summary: 'run FAILED or DEAD tasks once more', load: () => import('./redrive.ts') },
  completion: {
    summary: 'print what completes commands and flags in your shell',
    load: () => import('./completion.ts'),
  },
  version: { summary: 'show the version', load: () => import('./version.ts') },
};
