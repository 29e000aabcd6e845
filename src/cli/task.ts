// Owns `task`: shows one task as it is now.

import type { Command } from 'commander';
import { type Io, say } from './command.ts';
import { askedTask } from './lease-task.ts';
import { successOf } from './refusals.ts';
import { Server } from './server.ts';
import { type ServerOptions, withServer } from './server-options.ts';
import { taskText } from './task-text.ts';

export function define(command: Command, io: Io): void {
  withServer(command)
    .argument('<task>', 'the id of the task, such as T2')
    .action(async (task: string, options: ServerOptions) => {
      const server = new Server(options, io);
      try {
        const taskId = await askedTask(task, server, options);
        const body = successOf(await server.ask('task', { task_id: taskId }), options);
        say(io.stdout, options.json === true ? JSON.stringify(body) : taskText(body));
      } finally {
        server.close();
      }
    });
}
