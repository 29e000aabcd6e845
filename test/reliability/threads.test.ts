// Threads of the real executable die under a load, between two turns and in the middle of one. The
// rest goes on: every request is answered or its connection is closed, nothing acknowledged is
// lost, and what dies again and again ends the process. The deaths are in a copy of the program: a
// line at the end of an actor's file, or at the head of a function.

import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { SocketLink } from '../support/links.ts';
import { ACTORS, type Patch } from '../support/planted.ts';
import { inPlace, type Place, type Server } from '../support/server.ts';
import { inTurn, isPlayed } from '../support/tier.ts';
import { until } from '../support/waiting.ts';
import { copyProgram, executableOf } from './patched.ts';
import { COUNTS_DEATHS_FOR_LONG, MOMENTS } from './program-faults.ts';
import { roundsOf } from './rounds.ts';
import { type Asked, Traffic } from './traffic.ts';
import { holdsAll } from './verified.ts';

/** The actors whose death closes connections; that of others must not. */
const INGRESSES = ['http', 'socket'];
const WITHIN_MS = 90_000;
/** Deaths of the coordinator's thread that end the process, soon after one another. */
const DEATHS_MAX = 6;
const DYING = inTurn(Object.keys(ACTORS), 2);
const WAYS = ['between two turns', 'in the middle of one', 'again and again'];

const triggerOf = (dir: string, name: string): string => path.join(dir, `die-${name}`);

/** Dies as soon as a file is there, and takes it away. */
const dies = (dir: string, name: string): string => {
  const trigger = JSON.stringify(triggerOf(dir, name));
  return `if (deadly.existsSync(${trigger})) { deadly.rmSync(${trigger}); process.exit(1); }`;
};
const IMPORT = "import * as deadly from 'node:fs';";

const betweenTurns = (dir: string): Patch[] =>
  Object.entries(ACTORS).map(([name, beside]) => ({
    beside,
    add: `${IMPORT}\nsetInterval(() => { ${dies(dir, name)} }, 3).unref();`,
  }));

const inATurn = (dir: string): Patch[] =>
  Object.entries(MOMENTS).flatMap(([name, { from: head }]) => [
    { from: head, to: `${head} ${dies(dir, name)}` },
    { beside: head, add: IMPORT },
  ]);

interface Stage {
  readonly place: Place;
  readonly executable: string;
  server: Server;
  history: Asked[];
}

const serve = async (place: Place, executable: string): Promise<Server> =>
  place.serve({ executable, args: ['--lease-duration-ms', '2000'] }).ready();

async function onStage(patches: (dir: string) => Patch[], act: (stage: Stage) => Promise<void>) {
  await inPlace(async (place) => {
    const dist = copyProgram(path.join(place.dir, 'program'), patches(place.dir));
    const executable = executableOf(dist);
    const stage = { place, executable, server: await serve(place, executable), history: [] };
    await act(stage);
    expect(await stage.server.stop()).to.deep.equal({ code: 0, signal: null });
    await holdsAll(place, stage.history);
  });
}

async function answers({ socketPort }: Place): Promise<boolean> {
  const link = new SocketLink(socketPort);
  const answer = await link.call('stats', {}).catch(() => undefined);
  link.close();
  return answer !== undefined;
}

/** Lets one die in the middle of a load. @returns the load, which goes on. */
async function killed({ place, server }: Stage, name: string, seed: number): Promise<Traffic> {
  const onCut = () => pause(20);
  const traffic = new Traffic(place, { seed, clients: 4, onCut, pace: () => pause(1) });
  await pause(60);
  const trigger = triggerOf(place.dir, name);
  fs.writeFileSync(trigger, '');
  await until(`${name} died`, () => !fs.existsSync(trigger), WITHIN_MS);
  await Promise.race([server.goesOn(WITHIN_MS), server.ended]);
  return traffic;
}

describe('threads that die', () => {
  const rounds = roundsOf('threads', 1, 90_000);

  if (isPlayed('between two turns', WAYS)) {
    it('between two turns: the others go on, and each is started anew', async () => {
      await rounds.run((seed) =>
        onStage(betweenTurns, async (stage) => {
          const { server } = stage;
          for (const name of DYING) {
            const traffic = await killed(stage, name, seed);
            expect(await server.goesOn(WITHIN_MS), `${name}: ${server.err}`).to.equal(true);
            const reads = async () => (await server.status('/v1/log?limit=1')) === 200;
            await until('the log is read', reads, WITHIN_MS);
            await until('the socket answers', () => answers(stage.place), WITHIN_MS);
            await traffic.stop();
            stage.history = stage.history.concat(traffic.history);
            const unanswered = traffic.history.filter(({ answer }) => answer === undefined);
            if (!INGRESSES.includes(name)) expect(unanswered, name).to.deep.equal([]);
          }
          const deaths = server.out.split('\n').filter((line) => line.includes(' died"'));
          expect(deaths.length, server.out).to.equal(DYING.length);
        }),
      );
    }).timeout(rounds.timeoutMs);
  }

  if (isPlayed('in the middle of one', WAYS)) {
    it('in the middle of one: nothing acknowledged is lost', async () => {
      await rounds.run((seed) =>
        onStage(inATurn, async (stage) => {
          for (const name of Object.keys(MOMENTS)) {
            const traffic = await killed(stage, name, seed);
            if (stage.server.over !== undefined) {
              stage.server = await serve(stage.place, stage.executable);
            }
            await pause(30);
            await traffic.stop();
            stage.history = stage.history.concat(traffic.history);
          }
        }),
      );
    }).timeout(rounds.timeoutMs);
  }

  if (isPlayed('again and again', WAYS)) {
    it('again and again: the process ends and says so', async () => {
      const patches = (dir: string): Patch[] => [...betweenTurns(dir), ...COUNTS_DEATHS_FOR_LONG];
      await onStage(patches, async (stage) => {
        const { place, server } = stage;
        for (let death = 1; death <= DEATHS_MAX; death += 1) {
          const trigger = triggerOf(place.dir, 'coordinator');
          fs.writeFileSync(trigger, '');
          await until('it died', () => !fs.existsSync(trigger), WITHIN_MS);
        }
        await until('the process ended', () => server.over !== undefined, WITHIN_MS);
        expect(server.over).to.deep.equal({ code: 1, signal: null });
        expect(server.err).to.include(`died ${DEATHS_MAX} times`);
        stage.server = await serve(place, stage.executable);
      });
    }).timeout(180_000);
  }
});
