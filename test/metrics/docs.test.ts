// Holds dashboard, alert rules and the operator's page to the names that are really exported: what
// they ask for exists, and what exists is explained.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { FAMILIES, type Family } from '../../src/metrics/families.ts';

const read = (name: string): string => readFileSync(path.join(process.cwd(), 'docs', name), 'utf8');

/** Labels of a family beyond those that Prometheus adds. */
const LABELS: Readonly<Record<string, readonly string[]>> = {
  leasehold_tasks: ['state', 'queue'],
  leasehold_tasks_eligible: ['queue'],
  leasehold_log_bytes: ['state'],
  leasehold_oldest_waiting_seconds: ['queue'],
  leasehold_request_duration_seconds: ['op', 'outcome'],
  leasehold_event_loop_lag_seconds: ['actor'],
  leasehold_cluster_node_lag_records: ['node'],
  leasehold_cluster_elections_total: ['result'],
  leasehold_cluster_commits_unanswered_total: ['outcome'],
  leasehold_cluster_etcd_errors_total: ['code'],
};

/** @returns what is wrong with an expression's names. */
function faults(expression: string): string[] {
  const found: string[] = [];
  const used = new Set<string>(['le']);
  for (const [, name = ''] of expression.matchAll(/\b(leasehold_[a-z0-9_]+)/g)) {
    const base = name.replace(/_(bucket|sum|count)$/, '');
    const family = (FAMILIES as Record<string, Family>)[base];
    if (family === undefined) found.push(`${name} is not exported`);
    else if ((name !== base) !== (family.type === 'histogram')) found.push(`${name}: wrong suffix`);
    for (const label of LABELS[base] ?? []) used.add(label);
  }
  const grouped = [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) =>
    list.split(',').map((label) => label.trim()),
  );
  const matched = [...expression.matchAll(/[{,]\s*([a-z_]+)\s*(?:=~|!=|=)/g)].map(
    ([, label = '']) => label,
  );
  for (const label of [...grouped, ...matched]) {
    if (!used.has(label)) found.push(`${label} is no label of it`);
  }
  return found;
}

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

describe('metrics in the docs', () => {
  it('are exported when the alert rules ask for them', () => {
    const expressions = [...read('alerts.yml').matchAll(/^\s*expr: (.*)$/gm)];
    expect(expressions).length.above(10);
    for (const [, expression = ''] of expressions) expect(faults(expression), expression).empty;
  });

  it('are exported when the dashboard asks for them, and all of them are on it', () => {
    const { panels } = JSON.parse(read('grafana.json')) as { panels: Panel[] };
    const targets = panels.flatMap((panel) => panel.targets ?? []);
    const shown = new Set<string>();
    for (const { expr } of targets) {
      expect(faults(expr), expr).empty;
      for (const [name] of expr.matchAll(/leasehold_[a-z0-9_]+/g)) {
        shown.add(name.replace(/_(bucket|sum|count)$/, ''));
      }
    }
    expect([...shown].toSorted()).deep.equal(Object.keys(FAMILIES).toSorted());
  });

  it('would be found wrong if they were', () => {
    expect(faults('rate(leasehold_no_such_total[5m])')).not.empty;
    expect(faults('sum by (queue) (leasehold_leases_active)')).not.empty;
    expect(faults('leasehold_tasks{stat="FAILED"}')).not.empty;
    expect(faults('rate(leasehold_tasks_bucket[5m])')).not.empty;
  });

  it('have a row each in the page for operators, and so has each alert', () => {
    const page = read('OPERATING.md');
    for (const name of Object.keys(FAMILIES)) expect(page).match(new RegExp(`\`${name}[{\`]`));
    const alerts = [...read('alerts.yml').matchAll(/- alert: (\w+)/g)].map(([, name]) => name);
    for (const alert of alerts) expect(page).include(`| \`${alert}\` |`);
  });
});
