// Owns the list of processes and folders that a rehearsal has made and must not leave behind. The
// guardian holds a copy of the list.

import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const suffix = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
const GUARDIAN = fileURLToPath(new URL(`./guardian${suffix}`, import.meta.url));

type Kind = 'group' | 'process' | 'folder';

/** An environment variable that every process of a rehearsal has, and hands on. */
const MARK = 'REHEARSAL_OF_LEASEHOLD';

export class CleanUp {
  private readonly mark = randomUUID();
  private readonly guardian: ChildProcess;
  private readonly ended: Promise<unknown>;

  constructor() {
    this.guardian = spawn(process.execPath, [GUARDIAN, `${MARK}=${this.mark}`], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    this.guardian.stdin?.on('error', () => {});
    this.ended = once(this.guardian, 'exit');
  }

  /** From now on this is ended, or removed, with the rehearsal. */
  add(kind: Kind, name: number | string): void {
    this.tell('+', kind, name);
  }

  /**
   * What every process of the rehearsal is given in its environment: one that was started right
   * before the rehearsal was killed is found by it, although nobody could list the process.
   */
  get environment(): NodeJS.ProcessEnv {
    return { [MARK]: this.mark };
  }

  /** It is gone by itself. */
  drop(kind: Kind, name: number | string): void {
    this.tell('-', kind, name);
  }

  /** Everything that is still listed is ended and removed when this resolves. */
  async close(): Promise<void> {
    this.guardian.stdin?.end();
    await this.ended;
  }

  private tell(sign: '+' | '-', kind: Kind, name: number | string): void {
    this.guardian.stdin?.write(`${JSON.stringify([sign, kind, String(name)])}\n`);
  }
}
