// Rehearses the Worker of README.md with an effect that is counted: its present text, and the text
// that it once had, which completed a task whose effect it had left out.

import { rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { block } from '../e2e/readme.ts';
import { inTurn } from '../support/tier.ts';
import { rehearseHere, type Told } from './rehearsal.ts';

const SCENARIOS = ['confirmation-lost', 'confirmation-unavailable', 'report-lost'];
const MAIL = /^.*console\.log\(`attempt .*$/m;
const EFFECT = `await fetch(process.env.LEASEHOLD_EFFECTS_URL, {
  method: 'POST',
  body: JSON.stringify({ task_id: task.taskId, fencing_token: task.fencingToken }),
});`;
const CHECK = /^.*if \(!\(await stillMine\(\)\)\) throw .*$/m;

describe('a rehearsal of the Worker in README.md', () => {
  const text = block('Write a worker', 'js', 1);

  async function told(worker: string): Promise<Told> {
    // Within the package: there its own name means this very build.
    const file = fileURLToPath(new URL(`./readme-${process.pid}.mjs`, import.meta.url));
    writeFileSync(file, worker.replace(MAIL, EFFECT));
    try {
      const payload = '{"to":"a@example.org"}';
      const options = { payload, queue: 'mail', scenarios: SCENARIOS };
      return await rehearseHere(`exec node ${file}`, options);
    } finally {
      rmSync(file);
    }
  }

  const keeps = async (): Promise<void> => {
    expect(text).to.match(MAIL).and.to.match(CHECK);
    const { scenarios, status } = await told(text);
    const verdicts = scenarios.map(({ name, verdict }) => `${name} ${verdict}`);
    const all = ['undisturbed', 'confirmation-lost', 'confirmation-unavailable', 'report-lost'];
    expect(verdicts).to.deep.equal(all.map((name) => `${name} kept`));
    expect(status).to.equal(0);
  };

  const convicted = async (): Promise<void> => {
    const old = text.replace(CHECK, 'if (!(await stillMine())) return undefined;');
    const { scenarios } = await told(old);
    const found = scenarios.map(({ faults }) => faults.map(({ name }) => name));
    const fault = ['completed-without-effect'];
    expect(found).to.deep.equal([[], fault, fault, []]);
    const [lost, refused] = scenarios.slice(1).map(({ faults }) => faults[0]?.evidence[0]);
    const words = (why: string): RegExp =>
      new RegExp(
        `^request \\d+ \\(complete\\) at \\d+ ms, after request \\d+ \\(heartbeat\\) at \\d+ ms ` +
          `${why}, and T2 never had an effect; its lease completed, record \\d+$`,
      );
    expect(lost).to.match(words('had got no answer'));
    expect(refused).to.match(words('had been answered UNAVAILABLE'));
  };

  const both = [
    ['finds that it keeps the contract', keeps],
    ['convicts its old text of having completed a task without its effect', convicted],
  ] as const;
  for (const [title, play] of inTurn(both)) it(title, play).timeout(240_000);
});
