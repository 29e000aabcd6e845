// What a lifecycle leaves to the garbage collectors of all threads: the bytes that V8 says each
// collection has freed, for a number of lifecycles. These are counts and no times, so the figures
// of two builds may be compared also when they were taken one after the other.

import type { Work } from './driver.ts';
import { type Bench, interleaved, type Row, rowOf } from './harness.ts';
import { HttpLink, lifecycle as overHttp } from './http-link.ts';
import { PAYLOAD } from './records.ts';
import { startServer } from './server.ts';
import { lifecycle, SocketLink } from './socket-link.ts';

const MIB = 1_048_576;
/** Many collections of the largest young generation, 16 MiB, fit into what these leave. */
const LIFECYCLES = { 'socket, 16 × 64': 30_000, 'HTTP, 64 × 1': 12_000 } as const;
const WARM_UP = 8_000;

/** `[pid:isolate] 42 ms: Scavenge 9.6 (12.3) -> 7.3 (13.5) MB, …`, in MiB */
const COLLECTION =
  /^\[\d+:0x[0-9a-f]+\] +\d+ ms: (?:Scavenge|Mark-Compact)[^\d]*([\d.]+) \([\d.]+\) -> ([\d.]+) /;

interface Taken {
  readonly bytes: number;
  readonly collections: number;
}

async function run(works: readonly Work[], inFlight: number, count: number): Promise<void> {
  let left = count;
  const one = async (work: Work): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await work();
    }
  };
  await Promise.all(works.flatMap((work) => Array.from({ length: inFlight }, () => one(work))));
}

export const bench: Bench = {
  about: 'bytes freed by the garbage collectors of the server, a lifecycle',
  async run({ rounds, say }) {
    let freed = 0;
    let collections = 0;
    const onLine = (line: string): void => {
      const [, before, after] = COLLECTION.exec(line) ?? [];
      if (before === undefined) return;
      freed += (Number(before) - Number(after)) * MIB;
      collections += 1;
    };
    const server = await startServer({ nodeOptions: ['--trace-gc'], onLine });
    const overSocket: Work[] = [];
    for (let client = 0; client < 16; client += 1) {
      const link = await SocketLink.to(server.socketPort);
      overSocket.push(() => lifecycle(link, `worker-${client}`, PAYLOAD));
    }
    const http: Work[] = [];
    for (let client = 0; client < 64; client += 1) {
      const link = await HttpLink.to(server.httpPort);
      http.push(() => overHttp(link, `worker-${client}`, PAYLOAD));
    }
    say('warming up');
    await run(overSocket, 64, WARM_UP);
    await run(http, 1, WARM_UP);
    const take = async (works: readonly Work[], inFlight: number, count: number) => {
      [freed, collections] = [0, 0];
      await run(works, inFlight, count);
      return { bytes: freed / count, collections };
    };
    const taken = await interleaved<keyof typeof LIFECYCLES, Taken>(
      { rounds, say },
      {
        'socket, 16 × 64': () => take(overSocket, 64, LIFECYCLES['socket, 16 × 64']),
        'HTTP, 64 × 1': () => take(http, 1, LIFECYCLES['HTTP, 64 × 1']),
      },
    );
    await server.stop();
    return Object.entries(taken).flatMap(([name, all]): Row[] => [
      rowOf(
        `${name}: garbage`,
        'bytes/lifecycle',
        all.map(({ bytes }) => bytes),
      ),
      rowOf(
        `${name}: collections`,
        '',
        all.map((one) => one.collections),
      ),
    ]);
  },
};
