// Owns one run: a world with workers and clients until so many records are written, trouble on the
// way, then calm, in which everything must come to its end.

import { Violation } from './checkers/violation.ts';
import { Clients } from './clients.ts';
import { Network } from './network.ts';
import { Random } from './random.ts';
import { quiet, type Settings } from './settings.ts';
import { Workers } from './workers.ts';
import { type Planted, World } from './world.ts';

const DAY_MS = 86_400_000;
/** More than it takes to bring everything to its end. */
const CALM_EVENTS = 100_000;

export interface Run {
  readonly records: number;
  readonly failure?: { readonly checker: string; readonly message: string };
  readonly transcript: (lines: number) => string;
}

export async function run(settings: Settings, planted: Planted = {}): Promise<Run> {
  const world = new World(settings, planted);
  const transcript = (lines: number): string => world.transcript.words(lines);
  try {
    await play(world);
    return { records: world.records, transcript };
  } catch (error) {
    const { message, stack } = error as Error;
    const failure =
      error instanceof Violation
        ? { checker: error.checker, message }
        : { checker: 'exception', message: stack ?? message };
    return { records: world.records, failure, transcript };
  }
}

async function play(world: World): Promise<void> {
  const network = new Network(world);
  const clients = new Clients(world, network);
  new Workers(world, network);
  const troubles = new Troublemaker(world);
  while (world.records < world.settings.records) {
    const happening = happen(world) ?? troubles.next();
    if (happening !== undefined) await happening;
  }
  clients.isOpen = false;
  world.troubles = quiet(world.troubles);
  const { book, expected } = world.model;
  for (let n = 0; n < CALM_EVENTS; n += 1) {
    const happening = happen(world);
    if (happening !== undefined) await happening;
    const open = book.waiting.size + book.leased.size + expected.size;
    if (open === 0 && world.node.loop.commits.idle && world.node.loop.recovery.serving) {
      world.audit();
      return;
    }
    if (open > 0 && open === book.waiting.size) passBackoff(world);
    // A task whose window is shorter than the way of its reports ends when somebody ends it.
    if (n > CALM_EVENTS / 4 && n % 1_000 === 0) {
      for (const taskId of [...book.waiting.keys()]) {
        network.tell({ op: 'kill', taskId, reason: 'it never ends' });
      }
    }
  }
  const left = [...book.waiting.keys(), ...book.leased.keys()].slice(0, 5).join(', ');
  const { mode } = world.node.loop.recovery;
  throw new Violation('liveness', `${mode}; tasks ${left} never come to an end`);
}

/** Everything that is left waits for a time: it may be years away. */
function passBackoff(world: World): void {
  let next = Number.POSITIVE_INFINITY;
  for (const task of world.model.book.waiting.values()) next = Math.min(next, task.eligibleAt);
  if (next > world.now() + 1_000) world.pass(next - world.now());
}

function happen(world: World): void | Promise<void> {
  const event = world.events.next();
  if (event === undefined) throw new Violation('liveness', 'nothing will ever happen again');
  return event();
}

/** What befalls the coordinator's machine between one event and the next. */
class Troublemaker {
  private readonly world: World;
  private readonly dice: Random;
  private readonly sum: number;

  constructor(world: World) {
    const { jump, wallStep, crash, takeover } = world.troubles;
    this.world = world;
    this.dice = new Random(world.settings.seed, 'troubles');
    this.sum = jump + wallStep + crash + takeover;
  }

  next(): Promise<void> | undefined {
    const { dice, world } = this;
    if (!dice.chance(this.sum)) return undefined;
    const { jump, wallStep, crash, takeover } = world.troubles;
    switch (dice.weighted({ jump, wallStep, crash, takeover })) {
      case 'jump':
        world.pass(dice.pick([1, 1_000, 60_000, DAY_MS]));
        return undefined;
      case 'wallStep':
        world.stepWall(dice.pick([-1, 1]) * dice.pick([1, 1_000, 3_600_000, DAY_MS]));
        return undefined;
      case 'crash':
        return world.crash();
      case 'takeover':
        return world.takeover();
    }
  }
}
