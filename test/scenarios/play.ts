// Owns the language of the scenarios: one command a line, played on the real loop with a log in
// memory and a clock that moves only when told. Each command is answered with the records that it
// made, as `leasehold log` shows them, and what was said to whom. It judges nothing.
//
//   knobs max_retries=2 …    first line only; what is not given is as in KNOBS of support/world.ts
//   submit {…} · lease {…} · heartbeat {…} · complete {…} · fail {…} · kill {…} · redrive {…} ·
//   task {…}                 a request with the fields of the interface
//   at 9999                  coordinator time, in ms since the beginning; nothing is looked at yet
//   tick                     the timer comes round
//   restart · wall -3600000  a new process on the same log · the wall clock is stepped by so much
//   disk failed | lost answer   what becomes of the next commit
//   explain T2               the story as text

import { explain } from '../../src/explain/explain-task.ts';
import { explanationText } from '../../src/explain/page-text.ts';
import type { Outcome } from '../../src/log/memory-log.ts';
import { parseTaskId } from '../../src/model/ids.ts';
import type { CoreKnobs } from '../../src/model/knobs.ts';
import { recordLine } from '../../src/model/record-line.ts';
import { isRefusal } from '../../src/model/refusal.ts';
import type { Op } from '../../src/model/request.ts';
import type { Response } from '../../src/model/response.ts';
import { clockText } from '../../src/model/time-text.ts';
import { httpStatus } from '../../src/protocol/answer-frame.ts';
import { format } from '../../src/protocol/answer-text.ts';
import { parseRequest } from '../../src/protocol/fields-to-request.ts';
import { formatRecord } from '../../src/protocol/record-json.ts';
import { readStory } from '../../src/reader/task-story.ts';
import { World } from '../support/world.ts';

/** From the world's own beginning to the next midnight, so that clocks read as time passed. */
const TO_MIDNIGHT_MS = 6_400_000;
const LIMITS = { payloadMaxBytes: 1_024 };
const ABSOLUTE_MS = /\b1[67]\d{11}\b/g;
const VERBS = /^(submit|lease|heartbeat|complete|fail|kill|redrive|task)$/;

export class Stage {
  private readonly world: World;
  /** Requests that are not answered yet, by ticket. */
  private readonly open = new Map<number, string>();
  private shownThrough = 0;

  private constructor(world: World) {
    this.world = world;
  }

  static async open(knobs: string): Promise<Stage> {
    const world = new World(readKnobs(knobs));
    world.wallOffset = TO_MIDNIGHT_MS;
    await world.loop.start();
    return new Stage(world);
  }

  /** @returns what there is to see, a line each. */
  async play(line: string): Promise<string[]> {
    const [command, rest] = split(line);
    const said = await this.act(command, rest);
    const broken = this.world.broken();
    if (broken.length > 0) throw new Error(`after ${line}: ${broken.join(', ')}`);
    return [...this.newRecords(), ...said, ...this.answers()];
  }

  private async act(command: string, rest: string): Promise<string[]> {
    const { world } = this;
    if (VERBS.test(command)) return this.ask(command as Op, rest);
    if (command === 'at') world.time = Number(rest);
    else if (command === 'tick') await world.tick();
    else if (command === 'restart') await world.restart();
    else if (command === 'wall') world.wallOffset += Number(rest);
    else if (command === 'disk') world.log.plan(rest as Outcome);
    else if (command === 'explain') return this.explain(rest);
    else throw new Error(`no such command: ${command}`);
    return [];
  }

  private async ask(verb: Op, fields: string): Promise<string[]> {
    const request = parseRequest(verb, JSON.parse(fields === '' ? '{}' : fields), LIMITS);
    if (isRefusal(request)) return [shown(request)];
    const ticket = this.world.take(request);
    this.open.set(ticket, `${verb} ${fields}`);
    await this.world.settle();
    const parked = !this.world.answers.has(ticket);
    if (!parked) this.open.delete(ticket);
    return [parked ? '(parked)' : shown(this.world.answers.get(ticket) as Response)];
  }

  /** What parked requests were told meanwhile. */
  private answers(): string[] {
    const said: string[] = [];
    for (const [ticket, request] of this.open) {
      const answer = this.world.answers.get(ticket);
      if (answer === undefined) continue;
      this.open.delete(ticket);
      said.push(`${request}\n  ${shown(answer)}`);
    }
    return said;
  }

  private newRecords(): string[] {
    const { log } = this.world;
    const lines: string[] = [];
    for (const record of log.read(this.shownThrough + 1)) {
      this.shownThrough = record.seq;
      lines.push(recordLine(JSON.parse(formatRecord(record)) as Record<string, unknown>));
    }
    return lines;
  }

  private async explain(id: string): Promise<string[]> {
    const taskId = parseTaskId(id) ?? 0;
    const standing = await this.world.ask({ op: 'standing', taskId });
    if (standing?.kind !== 'standing') throw new Error(`no such task: ${id}`);
    const story = readStory(this.world.log, standing);
    return [explanationText(explain(story)).trimEnd()];
  }
}

/** Times as clocks: a scenario is read, and midnight is its beginning. */
const shown = (response: Response): string =>
  `${httpStatus(response)} ${format(response)}`.replaceAll(ABSOLUTE_MS, (ms) =>
    clockText(Number(ms)),
  );

function split(line: string): [string, string] {
  const at = line.indexOf(' ');
  return at < 0 ? [line, ''] : [line.slice(0, at), line.slice(at + 1)];
}

/** `max_retries=2 …`, named as on the command line. */
function readKnobs(text: string): Partial<CoreKnobs> {
  const pairs = text.split(' ').filter((pair) => pair !== '');
  return Object.fromEntries(
    pairs.map((pair) => {
      const [name = '', value] = pair.split('=');
      const camel = name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
      return [camel, Number(value)];
    }),
  );
}
