// Owns the list of commands. The file of a command is loaded only when that command runs, so that
// the start is quick.

import type { Commands } from './command.ts';

export const COMMANDS: Commands = {
  serve: { summary: 'run a coordinator', load: () => import('./serve.ts') },
  submit: {
    summary: 'submit a task, or one task for each line of the input',
    load: () => import('./submit.ts'),
  },
  lease: { summary: 'ask for tasks, as a worker does', load: () => import('./lease.ts') },
  heartbeat: { summary: 'extend a lease', load: () => import('./heartbeat.ts') },
  complete: {
    summary: 'report that the task of a lease succeeded',
    load: () => import('./complete.ts'),
  },
  fail: { summary: 'report that the task of a lease failed', load: () => import('./fail.ts') },
  work: { summary: 'run a command for each task', load: () => import('./work.ts') },
  task: { summary: 'show one task', load: () => import('./task.ts') },
  tasks: { summary: 'list tasks', load: () => import('./tasks.ts') },
  explain: { summary: 'tell why a task is in its state', load: () => import('./explain.ts') },
  log: { summary: 'show records, by default the newest', load: () => import('./log.ts') },
  verify: { summary: 'check every record of a data directory', load: () => import('./verify.ts') },
  state: { summary: 'show the state as it was after any record', load: () => import('./state.ts') },
  backup: { summary: 'copy a data directory', load: () => import('./backup.ts') },
  cluster: {
    summary: 'make and operate a cluster of several nodes',
    load: () => import('./cluster.ts'),
  },
  lab: {
    summary: 'run a coordinator to play with and print its log',
    load: () => import('./lab.ts'),
  },
  story: {
    summary: 'play the stories of what can happen to a task',
    load: () => import('./story.ts'),
  },
  rehearse: {
    summary: 'try your worker against what can go wrong',
    load: () => import('./rehearse.ts'),
  },
  transitions: {
    summary: 'show the table of all states and transitions',
    load: () => import('./transitions.ts'),
  },
  queues: {
    summary: 'show what waits in each queue, and who asks for it',
    load: () => import('./queues.ts'),
  },
  workers: {
    summary: 'show the workers, and what each holds',
    load: () => import('./workers.ts'),
  },
  top: { summary: 'watch queues and workers on one screen', load: () => import('./top.ts') },
  stats: { summary: 'show counts of tasks, leases and workers', load: () => import('./stats.ts') },
  doctor: {
    summary: 'check a server or a data directory',
    load: () => import('./doctor.ts'),
  },
  kill: { summary: 'end tasks for good', load: () => import('./kill.ts') },
  redrive: {
    summary: 'submit FAILED or DEAD tasks again, as new tasks',
    load: () => import('./redrive.ts'),
  },
  completion: {
    summary: 'print the script that completes commands and flags in your shell',
    load: async () => (await import('./completion.ts')).completionOf(COMMANDS),
  },
  version: { summary: 'show the version', load: () => import('./version.ts') },
};
