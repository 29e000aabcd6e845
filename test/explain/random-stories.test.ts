// Explains the tasks of small worlds that are played by dice: whatever happened in whatever order,
// each page is whole, rests on records of the log, and is the same from a replayed log.

import { expect } from 'chai';
import { explain } from '../../src/explain/explain-task.ts';
import type { Explanation } from '../../src/explain/explanation.ts';
import { explanationText } from '../../src/explain/page-text.ts';
import { replay } from '../../src/loop/replay.ts';
import { isEnd, type LogRecord, taskOf } from '../../src/model/records.ts';
import type { Lease, Leased, Redriven, Standing } from '../../src/model/response.ts';
import { storyIn } from '../../src/reader/story-at.ts';
import { readStory } from '../../src/reader/task-story.ts';
import { Random } from '../simulator/random.ts';
import { digestText, leaseRequest, World } from '../support/world.ts';

const WORLDS = 60;
const STEPS = 40;
/** What stands on a page only when a sentence was put together wrongly. */
const BROKEN =
  /undefined|NaN|Infinity|\[object|-\d+ ms|, ,|\(\)|\bof of\b|;;|\.\.| ,| \.\s|the the/;
/** Reasons that are words of the page itself. */
const REASONS = ['no luck', '(advisory)', 'poison: 0 leases in a row expired without a report'];
const KINDS = ['error', 'permanent', 'released'] as const;

class Played {
  readonly tasks = new Set<number>();
  readonly #dice: Random;
  readonly #leases: Lease[] = [];
  readonly world: World;

  constructor(world: World, dice: Random) {
    this.world = world;
    this.#dice = dice;
  }

  async step(): Promise<void> {
    const { world } = this;
    const lease = this.#one(this.#leases);
    const taskId = this.#one([...this.tasks]);
    switch (this.#dice.below(12)) {
      case 0:
        return void this.tasks.add(await world.submit(this.#options()));
      case 1:
      case 2:
      case 3: {
        const workerId = `w${this.#dice.below(3)}`;
        const { leases } = (await world.ask(leaseRequest({ workerId }))) as Leased;
        return void this.#leases.push(...leases);
      }
      case 4:
        return void (lease && (await world.heartbeat(lease)));
      case 5:
        return void (lease && (await world.complete(lease)));
      case 6: {
        const kind = KINDS[this.#dice.below(3)] ?? 'error';
        return void (lease && (await world.fail(lease, { kind, reason: this.#reason() })));
      }
      case 7:
        return void (taskId && (await world.ask({ op: 'kill', taskId, reason: this.#reason() })));
      case 8: {
        const made = taskId && ((await world.ask({ op: 'redrive', taskId })) as Redriven);
        return void (made && made.kind === 'redriven' && this.tasks.add(made.taskId));
      }
      case 9:
        world.time += this.#dice.below(20_000);
        return world.restart({ skip: this.#dice.below(2) * 1_000 });
      default:
        world.time += [500, 3_000, 12_000, 40_000][this.#dice.below(4)] as number;
        return world.tick();
    }
  }

  #options() {
    return {
      maxRetries: this.#dice.below(3),
      backoffMs: this.#dice.below(2) * 700,
      delayMs: this.#dice.chance(0.3) ? 900 : 0,
      executionWindowMs: this.#dice.between(5_000, 60_000),
    };
  }

  #reason = (): string => this.#one(REASONS) as string;
  #one = <T>(list: readonly T[]): T | undefined => list[this.#dice.below(list.length)];
}

const flat = (told: Explanation): string => explanationText(told).replace(/\s+/g, ' ');

function isWhole(told: Explanation, records: ReadonlyMap<number, LogRecord>): void {
  const page = flat(told);
  expect(page).not.match(BROKEN);
  for (const { text, records: behind } of told.statements) {
    expect(behind, text).not.empty;
    for (const seq of behind) expect(records.has(seq), `${text}: record ${seq}`).equal(true);
  }
  for (const { text, records: behind } of told.now.facts) {
    expect(behind.length > 0 || text.includes('(advisory)'), text).equal(true);
  }
  const own = [...records.values()].filter((one) => 'taskId' in one && one.taskId === told.taskId);
  const grants = own.filter(({ type }) => type === 'LeaseGranted');
  expect(told.attempts.map(({ leaseId }) => leaseId)).deep.equal(grants.map(({ seq }) => seq));
  const end = own.find((one) => one.type === 'TaskDead');
  const isPoison = end?.type === 'TaskDead' && /^poison: [1-9]/.test(end.reason);
  expect(page.includes('ended the task by the poison rule')).equal(isPoison);
}

/** A restore while the task was not over makes each count one of what is left. */
function isHonest(told: Explanation, { log }: World, records: readonly LogRecord[]): void {
  const restores = records.filter(({ seq }) => log.skippedBefore(seq) > 0).map(({ seq }) => seq);
  const over = records.findLast((one) => isEnd(one) && taskOf(one) === told.taskId);
  const end = over?.seq ?? Number.POSITIVE_INFINITY;
  const isLess = restores.some((seq) => seq > told.taskId && seq < end);
  expect(told.summary.startsWith('By the records that are left')).equal(isLess);
  if (restores.length === 0) expect(flat(told)).not.include('restore');
}

describe('explain, of worlds that are played by dice', () => {
  for (let seed = 1; seed <= WORLDS; seed += 1) {
    it(`tells whole pages of what the log has: seed ${seed}`, async () => {
      const dice = new Random(seed, 'stories');
      const world = await World.started({ poisonThreshold: dice.below(2) * 2 });
      const played = new Played(world, dice);
      for (let n = 0; n < STEPS; n += 1) await played.step();
      const records = new Map(world.records().map((record) => [record.seq, record]));
      const again = { state: replay(world.log, { digestText }).state, isWhole: true };
      for (const taskId of played.tasks) {
        const standing = (await world.ask({ op: 'standing', taskId })) as Standing;
        const told = explain(readStory(world.log, standing));
        isWhole(told, records);
        isHonest(told, world, [...records.values()]);
        expect(storyIn(world.log, again, taskId)?.statements).deep.equal(told.statements);
      }
    });
  }
});
