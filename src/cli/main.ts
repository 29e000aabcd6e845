#!/usr/bin/env node
// Owns the command line as a process: its words, its streams and its exit status.

import { watchOutputs } from './outputs.ts';
import { runCommand } from './run-command.ts';

const argv = process.argv.slice(2);
watchOutputs(argv, process);
process.exitCode = await runCommand(argv, process);
