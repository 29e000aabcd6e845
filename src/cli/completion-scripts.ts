// Owns how completion is written for each shell. The words to complete are passed in as data.

/** One flag of a command. */
export interface Word {
  readonly long: string;
  readonly description: string;
  /** Undefined: it takes none. A list: one of these. */
  readonly value: readonly string[] | 'file' | 'directory' | 'text' | undefined;
}

export interface Shown {
  readonly name: string;
  readonly summary: string;
  readonly flags: readonly Word[];
  /** What its first argument can be, where that is one of a few words. */
  readonly words: readonly string[];
}

const names = (commands: readonly Shown[]): string =>
  [...commands.map(({ name }) => name), 'help'].join(' ');

/** For bash 3.2 and newer, without bash-completion. */
export function bashScript(commands: readonly Shown[]): string {
  const values = commands.flatMap(({ name, flags }) =>
    flags.flatMap(({ long, value }) =>
      value === undefined ? [] : [`    ${name}:${long}) ${bashValue(value)};;`],
    ),
  );
  const words = commands.map(({ name, flags, words: first }) => {
    const all = [...first, ...flags.map(({ long }) => long), '--help'].join(' ');
    return `    ${name}) COMPREPLY=($(compgen -W '${all}' -- "$cur"));;`;
  });
  return `# Completion of leasehold for bash: source <(leasehold completion bash)
_leasehold() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]}
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ] || [ "\${COMP_WORDS[1]}" = help ]; then
    COMPREPLY=($(compgen -W '${names(commands)}' -- "$cur"))
    return
  fi
  case "\${COMP_WORDS[1]}:$prev" in
${values.join('\n')}
  esac
  case "\${COMP_WORDS[1]}" in
${words.join('\n')}
  esac
}
complete -F _leasehold leasehold`;
}

function bashValue(value: NonNullable<Word['value']>): string {
  if (value === 'text') return 'return';
  if (value === 'file') return `COMPREPLY=($(compgen -f -- "$cur")); return`;
  if (value === 'directory') return `COMPREPLY=($(compgen -d -- "$cur")); return`;
  return `COMPREPLY=($(compgen -W '${value.join(' ')}' -- "$cur")); return`;
}

export function zshScript(commands: readonly Shown[]): string {
  const listed = [...commands, { name: 'help', summary: 'show the help of a command' }];
  const described = listed.map(({ name, summary }) => `    ${quoted(`${name}:${plain(summary)}`)}`);
  const cases = commands.map(({ name, flags, words }) => {
    const rest = words.length > 0 ? `1:word:(${words.join(' ')})` : '*:argument:_default';
    const specs = [...flags.map(zshFlag), '--help[show the help]'];
    return `    ${name}) _arguments ${[...specs, rest].map(quoted).join(' ')} ;;`;
  });
  return `#compdef leasehold
# Completion of leasehold for zsh: source <(leasehold completion zsh)
_leasehold() {
  local -a commands=(
${described.join('\n')}
  )
  if (( CURRENT == 2 )) || [[ $words[2] == help ]]; then
    _describe command commands
    return
  fi
  shift words
  (( CURRENT-- ))
  case $words[1] in
${cases.join('\n')}
  esac
}
compdef _leasehold leasehold`;
}

function zshFlag({ long, description, value }: Word): string {
  const flag = `*${long}[${plain(description).replaceAll(/[[\]]/g, '')}]`;
  if (value === undefined) return flag;
  if (value === 'file') return `${flag}:file:_files`;
  if (value === 'directory') return `${flag}:directory:_files -/`;
  return value === 'text' ? `${flag}:value: ` : `${flag}:value:(${value.join(' ')})`;
}

export function fishScript(commands: readonly Shown[]): string {
  const top = commands.map(
    ({ name, summary }) =>
      `complete -c leasehold -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`,
  );
  const rest = commands.flatMap(({ name, flags, words }) => {
    const seen = `complete -c leasehold -n ${quoted(`__fish_seen_subcommand_from ${name}`)}`;
    const first = words.length === 0 ? [] : [`${seen} -a ${quoted(words.join(' '))}`];
    return [...first, ...flags.map((flag) => `${seen} ${fishFlag(flag)}`)];
  });
  return ['# Completion of leasehold for fish', 'complete -c leasehold -f', ...top, ...rest].join(
    '\n',
  );
}

function fishFlag({ long, description, value }: Word): string {
  const flag = `-l ${long.slice(2)} -d ${quoted(description)}`;
  if (value === undefined) return flag;
  if (value === 'file' || value === 'directory') return `${flag} -r -F`;
  return value === 'text' ? `${flag} -x` : `${flag} -x -a ${quoted(value.join(' '))}`;
}

/** Colons divide the parts of what zsh reads. */
const plain = (text: string): string => text.replaceAll(':', '\\:');
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
