// Owns how the table of transitions reads: as a page, as a diagram and on a terminal. All three
// are made from the table by which the core decides, so none of them can differ from the core.

import { TASK_STATES } from '../model/request.ts';
import { TRANSITIONS, type Transition } from '../model/transitions.ts';

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
  const rows = TRANSITIONS.map((one) => [shown(one.from), one.record, one.to, one.when]);
  const widths = [0, 1, 2].map((column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  );
  return rows
    .map(([from = '', record = '', to = '', when = '']) => {
      const [a = 0, b = 0, c = 0] = widths;
      return `${from.padEnd(a)}  ${record.padEnd(b)}  → ${to.padEnd(c)}  ${when}`;
    })
    .join('\n');
}

/** The page docs/STATES.md. */
export function statesPage(): string {
  return `# States and transitions

Printed by \`leasehold transitions --page\` from the table by which the coordinator decides; a test
holds the two together. A record that has no row for a
state cannot happen in it: the core refuses to write it, and replay refuses to read it.

\`\`\`mermaid
${mermaid()}
\`\`\`

| state | record | leads to | may happen when | the rule behind it |
|---|---|---|---|---|
${TRANSITIONS.map(tableRow).join('\n')}

\`TaskCancelled\` changes no state: it says that a report came without authority. COMPLETED,
FAILED and DEAD are final. \`CoordinatorStarted\` and \`HistoryForgotten\` are about no task; the
second ends the memory of tasks that ended long ago.
`;
}

const tableRow = ({ from, record, to, when, rule }: Transition): string =>
  `| ${shown(from)} | ${record} | ${to} | ${when} | ${rule} |`;
