// Owns a process that carries out several commands one after the other, each given as an argument
// of JSON, and prints what came of each. A user is of a process, and a process takes long to start.

import { command, type Ran } from '../support/command.ts';

const ran: Ran[] = [];
for (const words of process.argv.slice(2)) ran.push(await command(JSON.parse(words) as string[]));
console.log(JSON.stringify(ran));
