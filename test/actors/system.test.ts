// The life of the process, with real threads in the places of coordinator, ingress and reader: what
// is started anew, what ends the process, and the order of the stop.

import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { Progress } from '../../actors/shared/progress.ts';
import { type RunningSystem, startSystem } from '../../actors/supervisor/system.ts';
import type { CoreKnobs } from '../../src/model/knobs.ts';
import { readSettings } from '../../src/settings/settings.ts';
import { COUNTS, type CountingData } from './system-ingress.ts';

const fileOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const COORDINATOR = fileOf('./coordinator-thread.js');
const ACTOR = fileOf('./system-ingress.js');
const TIMER = fileOf('../../actors/timer/timer.js');

type Behaviour = CountingData['behaviour'];

class Play {
  readonly system: RunningSystem;
  readonly complaints: string[] = [];
  readonly #ingress = new SharedArrayBuffer(20);
  readonly #reader = new SharedArrayBuffer(20);
  #progress = new Progress(Progress.share());

  constructor(coordinator: string, ingress: Behaviour = 'serve', reader: Behaviour = 'serve') {
    this.system = startSystem({
      settings: readSettings({ flags: {}, env: {}, readFile: () => '' }),
      version: '0',
      logging: { level: 'silent', readable: false, color: false },
      complain: (message) => this.complaints.push(message),
      plan: (progress) => {
        this.#progress = new Progress(progress);
        const data = {
          segmentBytes: 1,
          tickMs: 50,
          acceptClock: false,
          skip: 0,
          failedStarts: 0,
          version: '0.0.0',
          core: {} as CoreKnobs,
        };
        return {
          dataDir: 'nowhere',
          coordinator: {
            file: COORDINATOR,
            mailbox: { maxRequests: 8, maxBytes: 1_024 },
            data: { ...data, dataDir: coordinator, progress },
          },
          ingresses: [this.#spec('ingress', this.#ingress, ingress)],
          reader: this.#spec('reader', this.#reader, reader),
          timer: { name: 'timer', file: TIMER, data: { tickMs: 1_000 } },
        };
      },
    });
  }

  get lives(): number {
    return this.#progress.epoch;
  }

  get phase(): string {
    return this.#progress.phase;
  }

  ingress(what: keyof typeof COUNTS): number {
    return Atomics.load(new Int32Array(this.#ingress), COUNTS[what]);
  }

  reader(what: keyof typeof COUNTS): number {
    return Atomics.load(new Int32Array(this.#reader), COUNTS[what]);
  }

  #spec(name: string, counts: SharedArrayBuffer, behaviour: Behaviour) {
    return { name, file: ACTOR, data: { counts, behaviour } };
  }
}

async function until(reached: () => boolean, what: string): Promise<void> {
  const end = performance.now() + 60_000;
  while (!reached()) {
    if (performance.now() > end) throw new Error(`not reached: ${what}`);
    await pause(2);
  }
}

describe('the supervisor', () => {
  it('connects everything, and stops it with status 0', async () => {
    const play = new Play('serving');
    await until(() => play.ingress('connected') === 1, 'the ingress is connected');
    await until(() => play.reader('started') === 1, 'the reader is started when there is a log');
    expect(play.ingress('started')).to.equal(1);
    expect(play.ingress('introduced')).to.equal(1);
    expect(play.reader('introduced'), 'to the ingress and to the timer').to.equal(2);
    play.system.stop();
    expect(await play.system.over, play.complaints.join()).to.equal(0);
    expect(play.phase).to.equal('stopping');
    expect(play.ingress('quiesced')).to.equal(1);
    expect(play.ingress('stopped')).to.equal(1);
    expect(play.reader('stopped')).to.equal(1);
    expect(play.complaints).to.deep.equal([]);
  });

  it('does not start a coordinator when an ingress cannot listen', async () => {
    const play = new Play('serving', 'cannot listen');
    expect(await play.system.over).to.equal(1);
    expect(play.complaints.join()).to.include('EADDRINUSE');
    expect(play.lives).to.equal(0);
  });

  it('ends at once when the coordinator says that going on makes no sense', async () => {
    const play = new Play('fatal');
    expect(await play.system.over, 'do not start it again').to.equal(6);
    expect(play.complaints).to.deep.equal(['LOG_LOCKED: another one has it']);
  });

  it('starts a coordinator that died anew, with new connections', async () => {
    const play = new Play('dies once');
    await until(() => play.ingress('connected') === 2, 'the ingress is connected again');
    await until(() => play.reader('started') === 1, 'it serves');
    expect(play.lives).to.equal(2);
    play.system.stop();
    expect(await play.system.over, play.complaints.join()).to.equal(0);
  });

  it('gives up a coordinator that dies again and again', async () => {
    const play = new Play('throw');
    expect(await play.system.over).to.equal(1);
    expect(play.lives).to.equal(6);
    expect(play.complaints.join()).to.include('died 6 times').and.include('a bug');
  });

  it('starts an ingress that died anew, connected and introduced as before', async () => {
    const play = new Play('serving', 'die once');
    await until(() => play.lives > 0, 'the coordinator has begun');
    await until(() => play.ingress('started') === 2, 'it listens again');
    await until(() => play.ingress('introduced') === 2, 'it knows the reader');
    expect(play.lives, 'the coordinator was left alone').to.equal(1);
    play.system.stop();
    expect(await play.system.over, play.complaints.join()).to.equal(0);
  });

  it('starts an ingress anew that died before it had answered that it listens', async () => {
    const play = new Play('serving', 'die at the first start');
    await until(() => play.ingress('started') === 2, 'it listens');
    await until(() => play.ingress('connected') === 1, 'it is connected');
    play.system.stop();
    expect(await play.system.over, play.complaints.join()).to.equal(0);
    expect(play.complaints).to.deep.equal([]);
  });

  it('ends in words when an ingress dies each time that it is to listen', async () => {
    const play = new Play('serving', 'die at each start');
    expect(await play.system.over).to.equal(1);
    expect(play.complaints.join()).to.include('ingress').and.include('died 3 times');
    expect(play.lives).to.equal(0);
  });

  it('starts a reader that died anew, and tells the ingresses', async () => {
    const play = new Play('serving', 'serve', 'die once');
    await until(() => play.reader('started') === 2, 'it reads again');
    await until(() => play.ingress('introduced') === 2, 'the ingress has a new channel');
    play.system.stop();
    expect(await play.system.over, play.complaints.join()).to.equal(0);
  });

  it('can be stopped while it starts', async () => {
    const play = new Play('serving');
    play.system.stop();
    expect(await play.system.over, play.complaints.join()).to.equal(0);
    expect(play.complaints).to.deep.equal([]);
  });
});
