// Owns the meaning of a command's exit status. 0 is success, with stdout as the result. 65
// (EX_DATAERR) is a failure that no further attempt can mend. Every other end is a failure that a
// further attempt may mend.

import { PermanentFailure } from '../client/errors.ts';
import type { Handler } from '../client/handler.ts';
import { type ExecEnd, execRun } from './exec-run.ts';

/** The payload itself is wrong: sysexits.h calls it EX_DATAERR. */
const PERMANENT_STATUS = 65;

export interface ExecOptions {
  readonly command: string;
  /** A larger result is refused by the coordinator. */
  readonly resultMaxBytes: number;
  readonly killAfterMs: number;
}

/** The handler of `work`: runs the command once for each attempt. */
export function execHandler({ command, resultMaxBytes, killAfterMs }: ExecOptions): Handler {
  return async (task, { signal, stillMine }) => {
    const end = await execRun({
      command,
      payload: task.bytes(),
      env: {
        LEASEHOLD_TASK_ID: task.taskId,
        LEASEHOLD_LEASE_ID: task.leaseId,
        LEASEHOLD_ATTEMPT: String(task.attempt),
        LEASEHOLD_FENCING_TOKEN: String(task.fencingToken),
        LEASEHOLD_QUEUE: task.queue,
      },
      stdoutMaxBytes: resultMaxBytes,
      signal,
      stillMine,
      killAfterMs,
    });
    return resultOf(end, resultMaxBytes);
  };
}

function resultOf(end: ExecEnd, resultMaxBytes: number): Buffer {
  const { code, stdout } = end;
  if (code === PERMANENT_STATUS) throw new PermanentFailure(reasonOf(end));
  if (code !== 0) throw new Error(reasonOf(end));
  if (stdout.isOver) {
    throw new PermanentFailure(
      `the command wrote ${stdout.bytes} bytes, more than the ${resultMaxBytes} of a result`,
    );
  }
  return stdout.take();
}

/** How it ended, and the end of what it said about it. */
function reasonOf({ code, signal, stderr }: ExecEnd): string {
  const how = code === null ? `ended by ${signal}` : `exit status ${code}`;
  const said = stderr.text();
  return said === '' ? how : `${how}: ${said}`;
}
