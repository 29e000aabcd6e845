// Writes the manual page of a build: it is made from the definitions of the commands, so it names
// every flag that exists and no other. usage: node scripts/man.mjs DIST
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Command } from 'commander';

const dist = resolve(process.argv[2] ?? 'dist');
const commands = pathToFileURL(join(dist, 'src', 'cli', 'commands.js'));
const { COMMANDS } = await import(commands.href);
const PACKAGE = fileURLToPath(new URL('../package.json', import.meta.url));

const ABOUT = [
  'leasehold is a durable, lease-based task coordinator: submit tasks, let workers lease them',
  'for a limited time, and have a task given to another worker when the first one goes silent.',
  'Every decision is written as a record to one append-only log on disk before anybody is told',
  'of it.',
];
const COMMON = [
  'One command runs the coordinator (serve); the others ask it, work for it, or read its data',
  'directory. Times are UTC. A duration may have a unit (500ms, 30s, 10m, 2h, 7d); a bare number',
  'is milliseconds.',
];
const EXIT_STATUS = [
  ['0', 'Done.'],
  ['1', 'Refused, or failed.'],
  ['2', 'Usage: a name, flag or value that cannot be.'],
  ['3', 'No server answers.'],
  ['4', 'CANCELLED: the lease was lost; the report was discarded.'],
  ['5', 'Empty: there was nothing to lease.'],
  ['6', 'serve only: another start does not help before somebody has looked at the log.'],
];
const ENVIRONMENT = [
  ['LEASEHOLD_URL', 'The server, where --url does not name one. Several are separated by commas.'],
  ['LEASEHOLD_TOKEN', 'The token of the server, where --token-file does not name its file.'],
  [
    'LEASEHOLD_DATA_DIR',
    'The data directory. Every other knob of serve has a variable like this, too: ' +
      'leasehold serve --help lists them.',
  ],
  ['COLUMNS', 'How wide tables and stories are where the output is no terminal. Default: 80.'],
  ['NO_COLOR', 'When it is set, nothing is coloured.'],
];

/** @returns the page as roff, for the man macros. */
async function manPage(version) {
  const lines = [
    '.\\" Made from the help texts by scripts/man.mjs.',
    `.TH LEASEHOLD 1 "" "leasehold ${version}" "User Commands"`,
    '.SH NAME',
    'leasehold \\- a durable, lease\\-based task coordinator',
    '.SH SYNOPSIS',
    '.B leasehold',
    '.I command',
    '.RI [ options ]',
    '.SH DESCRIPTION',
    ...ABOUT.map(escaped),
    '.PP',
    ...COMMON.map(escaped),
    '.SH COMMANDS',
  ];
  for (const [name, { summary, load }] of Object.entries(COMMANDS)) {
    const command = new Command(name).description(summary);
    (await load()).define(command, process);
    lines.push(...commandLines(command));
  }
  lines.push('.SH EXIT STATUS', ...pairs(EXIT_STATUS), '.SH ENVIRONMENT', ...pairs(ENVIRONMENT));
  lines.push(
    '.SH SEE ALSO',
    escaped('The documents in the folder docs of the package: README.md there lists them.'),
  );
  return `${lines.join('\n')}\n`;
}

/** @param before what stands before its name: of `cluster init`, `leasehold cluster` */
function commandLines(command, before = 'leasehold') {
  const places = command.registeredArguments.map((argument) => {
    const name = argument.name() + (argument.variadic ? '...' : '');
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  const name = `${before} ${command.name()}`;
  const usage = [name, ...places].join(' ');
  const after = textAfter(command);
  return [
    `.SS "${escaped(usage).replaceAll('"', '\\(dq')}"`,
    sentence(command.description()),
    ...pairs(command.registeredArguments.map((one) => [one.name(), sentenceOf(one.description)])),
    ...pairs(command.commands.map((one) => [wordsOf(one), sentenceOf(one.description())])),
    ...pairs(optionsOf(command).map(optionPair)),
    ...(after === '' ? [] : ['.PP', '.EX', ...after.split('\n').map(escaped), '.EE']),
    ...command.commands.flatMap((one) => commandLines(one, name)),
  ];
}

/** A command below another one, as `cluster init`, with its arguments. */
const wordsOf = (command) =>
  [command.name(), ...command.registeredArguments.map((one) => `<${one.name()}>`)].join(' ');

/** Those of the commands below it are its own, too, each once. */
function optionsOf(command) {
  const all = [command, ...command.commands].flatMap(({ options }) => options);
  const shown = all.filter(({ hidden }) => !hidden).map((one) => [one.flags, one]);
  return [...new Map(shown).values()];
}

function optionPair({ flags, description, argChoices, defaultValue }) {
  const notes = [
    ...(argChoices === undefined ? [] : [`one of ${argChoices.join(', ')}`]),
    ...(defaultValue === undefined ? [] : [`default ${String(defaultValue)}`]),
  ];
  const note = notes.length === 0 ? '' : ` (${notes.join('; ')})`;
  return [flags, sentenceOf(`${description}${note}`)];
}

/** What the help says after the options. */
function textAfter(command) {
  let text = '';
  command.configureOutput({
    writeOut: (piece) => {
      text += piece;
    },
    getOutHelpWidth: () => 80,
    getOutHasColors: () => false,
  });
  command.outputHelp();
  return text.slice(command.helpInformation().length).replace(/^\n+|\s+$/g, '');
}

const pairs = (all) => all.flatMap(([name, text]) => ['.TP', `.B ${escaped(name)}`, escaped(text)]);

const sentenceOf = (text) =>
  text === '' ? '' : `${text[0]?.toUpperCase()}${text.slice(1).replace(/\.$/, '')}.`;
const sentence = (text) => escaped(sentenceOf(text));

/** A hyphen of a flag must stay one, and a dot at the beginning of a line is a request. */
const escaped = (text) =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^[.']/, '\\&$&')
    .replaceAll('…', '\\&...');

const { version } = JSON.parse(readFileSync(PACKAGE, 'utf8'));
mkdirSync(join(dist, 'man'), { recursive: true });
writeFileSync(join(dist, 'man', 'leasehold.1'), await manPage(version));
