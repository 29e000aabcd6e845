// Owns how a rehearsal reads: a table of scenarios and verdicts, then the story of each failure.
// The report is text, JSON, or the JUnit file that continuous integration shows.

import { FAULTS } from './faults.ts';
import { shutdownText } from './judge-stops.ts';
import type { Result } from './play-scenario.ts';

/** Whether the user has to do something, or accept it by name. */
export const isFailure = ({ judgement, trouble }: Result): boolean =>
  trouble !== undefined || (judgement !== undefined && judgement.verdict !== 'kept');

/** A line for whoever watches a rehearsal without a terminal. */
export const progressLine = (result: Result, done: number, total: number): string =>
  `${done} of ${total}: ${result.scenario.name} ${wordOf(result)}`;

const wordOf = ({ judgement, skipped, trouble }: Result): string => {
  if (skipped !== undefined) return 'not played';
  return trouble !== undefined && judgement?.verdict === 'kept'
    ? 'not played to its end'
    : (judgement?.verdict ?? '');
};

/** Lines of the table, and behind it what has to be said of each failure. */
export function reportText(results: readonly Result[], allowed: ReadonlySet<string>): string {
  const width = Math.max(...results.map(({ scenario }) => scenario.name.length));
  const rows = results.map((result) => {
    const { name } = result.scenario;
    const mark = isFailure(result) && allowed.has(name) ? ', allowed' : '';
    return `${name.padEnd(width)}  ${wordOf(result)}${mark}${noteOf(result)}`;
  });
  const told = results.filter(isFailure).map((result) => storyOf(result));
  return [...rows, ...told].join('\n');
}

function noteOf({ judgement, skipped }: Result): string {
  if (skipped !== undefined) return `: ${skipped}`;
  if (judgement === undefined) return '';
  const titles = judgement.faults.map(({ name }) => FAULTS[name].title);
  if (titles.length > 0) return `: ${titles.join('; ')}`;
  const remarks = [...new Set(judgement.atShutdown.map(shutdownText))];
  const [how, ...others] = new Set(judgement.endedByThemselves);
  if (how !== undefined) {
    const ways = [how, ...others].join(', ');
    remarks.push(`the worker ended by itself (${ways})`);
  }
  const ms = judgement.noticedAfterMs;
  if (ms === 0) remarks.push('it stopped at once when it was told of a lost lease');
  else if (ms !== undefined) {
    remarks.push(`it worked on for ${ms} ms after it was told of a lost lease`);
  }
  return remarks.map((remark) => `, ${remark}`).join('');
}

function storyOf({ scenario, judgement, trouble, stories, output }: Result): string {
  const lines = ['', `── ${scenario.name}: ${scenario.title}`];
  if (trouble !== undefined) lines.push(`   could not be played to its end: ${trouble}`);
  for (const { name, evidence } of judgement?.faults ?? []) {
    lines.push(`   ${name}: the worker ${FAULTS[name].title}`);
    lines.push(...evidence.map((words) => `     - ${words}`));
    lines.push(`     mend: ${FAULTS[name].mend}`);
  }
  for (const lease of judgement?.atShutdown ?? []) {
    const { worker, leaseId, taskId, record } = lease;
    const proof = record === undefined ? '' : `, record ${record}`;
    lines.push(`   worker ${worker} ${shutdownText(lease)}: ${leaseId} of ${taskId}${proof}`);
  }
  for (const { times, refusable, words, taskId, why } of judgement?.doubled ?? []) {
    const how = refusable
      ? 'a store that refuses older fencing tokens would have refused all but one'
      : 'no fencing token tells them apart from right ones: the effect must be idempotent';
    lines.push(`   ${taskId} had its effect ${times} times: ${how}`, `     - ${words}`);
    lines.push(...why.map((text) => `     - ${text}`));
  }
  lines.push(`   read: ${scenario.page}`);
  for (const story of stories) lines.push('', indent(story));
  if (output !== '') lines.push('', indent(output));
  return lines.join('\n');
}

const indent = (text: string): string => text.trimEnd().replace(/^/gm, '   | ');

export function reportJson(results: readonly Result[], seed: number): string {
  const scenarios = results.map(({ scenario, judgement, skipped, trouble, stories, output }) => ({
    name: scenario.name,
    title: scenario.title,
    verdict: judgement?.verdict ?? null,
    faults: (judgement?.faults ?? []).map(({ name, evidence }) => ({
      name,
      title: FAULTS[name].title,
      mend: FAULTS[name].mend,
      evidence,
    })),
    doubled: (judgement?.doubled ?? []).map(({ taskId, times, refusable, words, why }) => ({
      task_id: taskId,
      times,
      refusable,
      words,
      why,
    })),
    at_shutdown: (judgement?.atShutdown ?? []).map((lease) => ({
      worker: lease.worker,
      signal: lease.signal,
      task_id: lease.taskId,
      lease_id: lease.leaseId,
      ended: lease.ended ?? null,
      record: lease.record ?? null,
      reported_after_ms: lease.reportedAfterMs ?? null,
      words: shutdownText(lease),
    })),
    ended_by_themselves: judgement?.endedByThemselves ?? [],
    noticed_after_ms: judgement?.noticedAfterMs ?? null,
    page: scenario.page,
    ...(skipped === undefined ? {} : { skipped }),
    ...(trouble === undefined ? {} : { trouble }),
    ...(stories.length === 0 ? {} : { stories, output }),
  }));
  return JSON.stringify({ seed, scenarios });
}

export function reportJunit(results: readonly Result[], allowed: ReadonlySet<string>): string {
  const fails = (result: Result): boolean =>
    isFailure(result) && !allowed.has(result.scenario.name);
  const cases = results.map((result) => {
    const { name, title } = result.scenario;
    const head = `<testcase classname="rehearsal" name="${xml(`${name}: ${title}`)}" time="${
      result.tookMs / 1_000
    }"`;
    if (result.skipped !== undefined) {
      return `  ${head}><skipped message="${xml(result.skipped)}"/></testcase>`;
    }
    if (!fails(result)) return `  ${head}/>`;
    const message = `${wordOf(result)}${noteOf(result)}`;
    const failure = `<failure message="${xml(message)}">${xml(storyOf(result))}</failure>`;
    return `  ${head}>${failure}</testcase>`;
  });
  const count = (wanted: (result: Result) => boolean): number => results.filter(wanted).length;
  const skipped = count((result) => result.skipped !== undefined);
  const counts = `tests="${results.length}" failures="${count(fails)}" skipped="${skipped}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuite name="leasehold rehearse" ${counts}>`,
    ...cases,
    '</testsuite>',
    '',
  ].join('\n');
}

/** Characters that XML 1.0 cannot hold are left out, the others are escaped. */
const xml = (text: string): string =>
  text
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '')
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/"/g, '&quot;');
