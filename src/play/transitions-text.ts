// Owns how the table of transitions reads: as a page, as a diagram and on a terminal. All three
// are made from the table by which the core decides, so none of them can differ from the core.

import { TASK_STATES } from '../model/request.ts';
import { letterOf, TRANSITIONS, type Transition } from '../model/transitions.ts';

const shown = (state: string): string => (state === 'NONE' ? '(new)' : state);

/** A state diagram in Mermaid's notation; transitions that lead nowhere else are left out. */
export function mermaid(): string {
  const lines = new Map<string, string[]>();
  for (const { from, to, record } of TRANSITIONS) {
    if (from === to) continue;
    const key = `    ${from === 'NONE' ? '[*]' : from} --> ${to}: `;
    lines.set(key, [...(lines.get(key) ?? []), record]);
  }
  const arrows = [...lines].map(([key, records]) => key + records.join(', '));
  const ends = TASK_STATES.filter(isFinal).map((state) => `    ${state} --> [*]`);
  return ['stateDiagram-v2', ...arrows, ...ends].join('\n');
}

const isFinal = (state: string): boolean =>
  TRANSITIONS.every(({ from, to }) => from !== state || to === state);

/** One line a transition, for a terminal. */
export function transitionsText(): string {
  const rows = TRANSITIONS.map((one) => [
    shown(one.from),
    one.record,
    one.to,
    one.when,
    letterOf(one),
  ]);
  const widths = [0, 1, 2].map((column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  );
  return rows
    .map(([from = '', record = '', to = '', when = '', letter = '']) => {
      const [a = 0, b = 0, c = 0] = widths;
      return `${letter}  ${from.padEnd(a)}  ${record.padEnd(b)}  → ${to.padEnd(c)}  ${when}`;
    })
    .join('\n');
}

/** The page docs/STATES.md. */
export function statesPage(): string {
  return `# States and transitions

\`leasehold transitions --page\` prints this page from the table by which the coordinator decides; a
test keeps the page and the table equal. Each row of the table says which record may be written
about a task in which state. A row begins with the letter that \`leasehold explain\` prints beside
such a record. For a state and a record without a row, the coordinator refuses to write the record,
and refuses to replay a log that has it.

\`\`\`mermaid
${mermaid()}
\`\`\`

| | state | record | leads to | may happen when | the rule behind it |
|---|---|---|---|---|---|
${TRANSITIONS.map(tableRow).join('\n')}

In the rows of \`TaskCancelled\`, the lease is the one that a report names. That lease was lost, so
the report has no authority: the record says that the report came, and changes no state. COMPLETED,
FAILED and DEAD are final. \`now\` is coordinator time, \`eligible_at\` is the end of the delay or
backoff, \`lease_expiry\` is when the lease runs out, and \`granted_at\` is when it was granted. Two
records are about no single task: \`CoordinatorStarted\`, and \`HistoryForgotten\`, which says which
tasks are no longer remembered, long after their end. The [glossary](GLOSSARY.md) explains the
words.
`;
}

const tableRow = (row: Transition): string => {
  const { from, record, to, when, rule } = row;
  return `| ${letterOf(row)} | ${shown(from)} | ${record} | ${to} | ${when} | ${rule} |`;
};
