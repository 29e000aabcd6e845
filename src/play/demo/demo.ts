// Owns the demonstration. Real files become tasks, and real worker processes do them. One worker
// and then the coordinator are killed in the middle. At the end everything is compared with a
// direct computation. The exit status is not 0 when anything is wrong. The demonstration cleans up
// after itself.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client } from '../../index.ts';
import { check, type FileTask } from './compare.ts';
import { factsOf } from './file-hash.ts';
import { filesIn, ownFiles } from './files.ts';
import { complain, print } from './print.ts';
import { freePort, Process, removeAtExit, ServerProcess } from './processes.ts';

const WORKERS = 4;
/** Tasks that the victim finishes before it gets stuck in its next one. */
const VICTIM_STUCK_AT = '2';
const LEASE_MS = 2_000;
const DONE_MAX_MS = 120_000;
const AT_A_TIME = 32;

const suffix = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
const WORKER = fileURLToPath(new URL(`./hash-worker${suffix}`, import.meta.url));

class Demo {
  readonly #processes: Process[] = [];
  readonly #began = performance.now();
  readonly #dir: string;
  readonly #port: number;
  readonly #client: Client;

  constructor(dir: string, port: number) {
    this.#dir = dir;
    this.#port = port;
    this.#client = new Client({ url: `http://127.0.0.1:${port}` });
  }

  async run(files: readonly string[]): Promise<string[]> {
    let server = await this.#serve();
    this.#tell(
      `coordinator ${server.child.pid} is ready on ${server.url}, its log in ${this.#dir}`,
    );
    const fileTasks = await this.#submit(files);
    this.#tell(`${fileTasks.length} tasks submitted, one a file; ${WORKERS} workers start`);
    const victim = this.#work('a', VICTIM_STUCK_AT);
    for (let i = 1; i < WORKERS; i++) this.#work(String.fromCharCode(97 + i), '0');

    const [, taskId = '', leaseId = ''] = await said(victim, /stuck in (T\d+) under (L\d+)/);
    victim.kill('SIGKILL');
    await victim.ended;
    this.#tell(`worker a is in the middle of ${taskId}, under ${leaseId}: kill -9 of worker a`);

    await this.#until((done) => done >= fileTasks.length / 3);
    server.kill('SIGKILL');
    await server.ended;
    this.#tell('kill -9 of the coordinator');
    server = await this.#serve();
    this.#tell('the coordinator is back on the same log');

    await this.#until((done) => done === fileTasks.length);
    this.#tell('all tasks are over');
    return check({
      client: this.#client,
      url: server.url,
      fileTasks,
      victim: { taskId, leaseId },
      print,
    });
  }

  /** Ends everything that was started. */
  async clean(): Promise<void> {
    this.#client.close();
    await Promise.all(this.#processes.map((each) => each.destroy()));
    await rm(this.#dir, { recursive: true, force: true });
  }

  async #serve(): Promise<ServerProcess> {
    const args = ['--lease-duration-ms', String(LEASE_MS), '--log-level', 'warn'];
    const dataDir = path.join(this.#dir, 'data');
    const server = new ServerProcess({ dataDir, port: this.#port, args });
    this.#processes.push(server);
    return server.ready();
  }

  #work(workerId: string, stuckAt: string): Process {
    const url = `http://127.0.0.1:${this.#port}`;
    const worker = new Process([WORKER, url, workerId, stuckAt]);
    this.#processes.push(worker);
    return worker;
  }

  /** What the files hold is computed here and now; workers read them again for themselves. */
  async #submit(files: readonly string[]): Promise<FileTask[]> {
    const fileTasks: FileTask[] = [];
    const left = [...files];
    const lane = async (): Promise<void> => {
      for (let file = left.shift(); file !== undefined; file = left.shift()) {
        const facts = factsOf(await readFile(file));
        const { taskId } = await this.#client.submit({
          queue: 'demo',
          payload: file,
          requestId: file,
        });
        fileTasks.push({ taskId, file, facts });
      }
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, lane));
    return fileTasks;
  }

  async #until(enough: (done: number) => boolean): Promise<void> {
    const end = performance.now() + DONE_MAX_MS;
    while (performance.now() < end) {
      const { tasks } = (await this.#client.stats()) as { tasks: Record<string, number> };
      if (enough(tasks['COMPLETED'] ?? 0)) return;
      await pause(10);
    }
    throw new Error(`the tasks are not done after ${DONE_MAX_MS / 1_000} s`);
  }

  #tell(line: string): void {
    const seconds = ((performance.now() - this.#began) / 1_000).toFixed(1);
    print(`${seconds.padStart(6)} s  ${line}`);
  }
}

/** Waits until a process has written what is looked for. */
async function said(from: Process, wanted: RegExp): Promise<RegExpExecArray> {
  for (;;) {
    const found = wanted.exec(from.out);
    if (found !== null) return found;
    if (from.over !== undefined) throw new Error(`a worker ended: ${from.err}`);
    await pause(5);
  }
}

async function main(folders: readonly string[]): Promise<number> {
  const files = folders.length === 0 ? ownFiles() : folders.flatMap(filesIn);
  // One task is for the victim to be killed in, and some have to be there for the others.
  if (files.length < 3) {
    complain(`at least three files are needed, ${files.length} found`);
    return 2;
  }
  const dir = await mkdtemp(path.join(os.tmpdir(), 'leasehold-demo-'));
  removeAtExit(dir);
  const demo = new Demo(dir, await freePort());
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void demo.clean().finally(() => process.exit(1)));
  }
  try {
    const faults = await demo.run(files);
    for (const fault of faults) complain(`OFF: ${fault}`);
    return faults.length === 0 ? 0 : 1;
  } catch (error) {
    complain(`OFF: ${(error as Error).stack}`);
    return 1;
  } finally {
    await demo.clean();
  }
}

process.exitCode = await main(process.argv.slice(2));
