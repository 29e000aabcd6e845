// Owns one run: a world with workers and clients until so many records are written, trouble on the
// way, then calm, in which everything must come to its end.

import { Violation } from './checkers/violation.ts';
import { Clients } from './clients.ts';
import { Disasters } from './disasters.ts';
import { Network } from './network.ts';
import { quiet, type Settings } from './settings.ts';
import { Workers } from './workers.ts';
import { World } from './world.ts';

/** More than it takes to bring everything to its end. */
const CALM_EVENTS = 100_000;

export interface Run {
  readonly records: number;
  readonly failure?: { readonly checker: string; readonly message: string };
  readonly transcript: (lines: number) => string;
}

export async function run(settings: Settings): Promise<Run> {
  const world = new World(settings);
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
  const troubles = new Disasters(world);
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
    if (open === 0 && world.node.loop.view.isIdle && world.node.loop.view.mode === 'serving') {
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
  const { mode } = world.node.loop.view;
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
