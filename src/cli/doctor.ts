// Owns `doctor`: what an expert would look at first, in a running server or in a data directory,
// each with a verdict. It changes nothing.

import type { Command } from 'commander';
import { errnoText } from '../model/errno-text.ts';
import { CliError, EXIT, type Io, say } from './command.ts';
import { directoryFacts } from './doctor/directory-facts.ts';
import { type Finding, findingLines, PAGES, worstOf } from './doctor/finding.ts';
import { judgeDirectory } from './doctor/judge-directory.ts';
import { judgeServer } from './doctor/judge-server.ts';
import { serverFacts } from './doctor/server-facts.ts';
import { Server } from './server.ts';
import { type ServerOptions, withServer } from './server-options.ts';
import { packageVersion } from './version.ts';
import { columnsOf } from './words.ts';

const HELP = `
  ok    in order
  look  a person should decide; the line names a page to read
  bad   this does harm, or will soon; the line names a page to read
  Exit status 1 when something is bad, else 0. doctor changes nothing: to measure the
  disk it writes a file without a name, which vanishes at once.`;

export function define(command: Command, io: Io): void {
  withServer(command)
    .argument('[where]', 'a data directory, or the URL of a server (default --url)')
    .addHelpText('after', HELP)
    .action((where: string | undefined, options: ServerOptions) => doctor(where, options, io));
}

async function doctor(where: string | undefined, options: ServerOptions, io: Io): Promise<void> {
  const isUrl = where === undefined || /^(https?|tcp|unix):/.test(where);
  const found = isUrl
    ? await ofServer(where === undefined ? options : { ...options, url: where }, io)
    : { where, findings: judgeDirectory(await factsOf(where, io)) };
  const verdict = worstOf(found.findings);
  if (options.json === true) {
    const findings = found.findings.map((one) => ({ ...one, page: PAGES[one.page] }));
    say(io.stdout, JSON.stringify({ where: found.where, verdict, findings }));
  } else {
    say(io.stdout, found.where);
    for (const line of found.findings.flatMap((one) => findingLines(one, columnsOf(io)))) {
      say(io.stdout, line);
    }
  }
  if (verdict === 'bad') throw new CliError(EXIT.failed, '');
}

async function ofServer(options: ServerOptions, io: Io) {
  const server = new Server(options, io);
  try {
    const facts = await serverFacts(server, packageVersion(), options);
    const findings: Finding[] = judgeServer(facts);
    return { where: server.url, findings };
  } finally {
    server.close();
  }
}

async function factsOf(directory: string, { env }: Io) {
  try {
    return await directoryFacts(directory, env);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    throw new CliError(EXIT.failed, `leasehold: ${directory}: ${errnoText(error)}`);
  }
}
