// Owns a log in etcd with its nodes for tests: each opening is a node of its own, with its own copy
// of the newest mirror and its own way to etcd.

import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Etcd } from '../../../src/log/etcd/etcd.ts';
import { encodeHead, type Head } from '../../../src/log/etcd/head.ts';
import { type Keys, keysOf, prefixEnd } from '../../../src/log/etcd/keys.ts';
import type { Time } from '../../../src/log/etcd/repeating.ts';
import { openReplicatedLog, type ReplicatedLog } from '../../../src/log/etcd/replicated-log.ts';
import { openLmdbLog } from '../../../src/log/lmdb-log.ts';
import type { AppendResult, Log } from '../../../src/log/log.ts';
import type { Device } from '../contract.ts';
import { breakDataFile, rewriteEntry } from '../lmdb-faults.ts';
import { FaultyLink } from './faulty-link.ts';

const STALL_MS = 30_000;

export const NEW_HEAD: Head = { epoch: 0, last: 0, check: 0, writer: '' };

/** The time of the machine; a pause takes none while nothing passes, so no test waits for that. */
function timeOf(link: FaultyLink): Time {
  let ahead = 0;
  return {
    monotonic: () => performance.now() + ahead,
    after(ms, act) {
      const isSkipped = link.isDown;
      const timer = setTimeout(
        () => {
          if (isSkipped) ahead += ms;
          act();
        },
        isSkipped ? 0 : ms,
      );
      return () => clearTimeout(timer);
    },
  };
}

export interface DeviceOptions {
  readonly segmentBytes?: number;
  readonly pieceBytes?: number;
  /** Of the log that is made; undefined: nobody makes one. */
  readonly head?: Head | undefined;
}

export interface Node {
  readonly log: ReplicatedLog;
  readonly link: FaultyLink;
  readonly dataDir: string;
}

export class ReplicatedDevice implements Device {
  readonly etcd: Etcd;
  readonly keys: Keys;
  private readonly options: DeviceOptions;
  private readonly nodes: Node[] = [];
  private readonly directory = fs.mkdtempSync(path.join(os.tmpdir(), 'leasehold-mirrors-'));

  private constructor(etcd: Etcd, options: DeviceOptions) {
    this.etcd = etcd;
    this.options = options;
    this.keys = keysOf(randomUUID());
  }

  static async make(etcd: Etcd, options: DeviceOptions = {}): Promise<ReplicatedDevice> {
    const device = new ReplicatedDevice(etcd, options);
    const head = 'head' in options ? options.head : NEW_HEAD;
    const { keys } = device;
    if (head) await etcd.txn([], [{ put: keys.head, value: encodeHead(head) }]);
    return device;
  }

  async open(): Promise<Log> {
    return (await this.node()).log;
  }

  /** @param mirror of which data directory; default: that of the newest node; `isEmpty`: none. */
  async node(mirror = this.nodes.at(-1)?.dataDir, isEmpty = false): Promise<Node> {
    const dataDir = path.join(this.directory, String(fs.readdirSync(this.directory).length));
    const isData = (file: string): boolean => !file.endsWith('lock.mdb');
    if (mirror !== undefined && !isEmpty)
      fs.cpSync(mirror, dataDir, { recursive: true, filter: isData });
    return this.nodeOn(dataDir);
  }

  /** A process on the mirror that lies in this data directory. */
  async nodeOn(dataDir: string): Promise<Node> {
    const { etcd, keys, options } = this;
    const { segmentBytes = 64 * 1024 * 1024, pieceBytes } = options;
    const link = new FaultyLink(etcd);
    const mirror = await openLmdbLog({ dataDir, segmentBytes, lock: false, stallMs: STALL_MS });
    try {
      const log = await openReplicatedLog({
        ...{ etcd: link, keys, mirror, writer: randomUUID(), node: path.basename(dataDir) },
        ...{
          stallMs: STALL_MS,
          time: timeOf(link),
          ...(pieceBytes === undefined ? {} : { pieceBytes }),
        },
      });
      const node = { log, link, dataDir };
      this.nodes.push(node);
      return node;
    } catch (error) {
      await mirror.close();
      throw error;
    }
  }

  /** Nothing of the next append or confirmation comes through, however often it is repeated. */
  failNext(log: Log): void {
    const { link } = this.nodes.find((node) => node.log === log) as Node;
    const { append, confirm } = log;
    link.isDown = true;
    const ending = <R extends Promise<AppendResult>>(result: R): R => {
      Object.assign(log, { append, confirm });
      const up = (): void => {
        link.isDown = false;
      };
      result.then(up, up);
      return result;
    };
    Object.assign(log, {
      append: (...given: Parameters<Log['append']>) =>
        ending(Promise.resolve(append.apply(log, given))),
      confirm: () => ending(Promise.resolve(confirm?.apply(log) ?? 'failed')),
    });
  }

  damage(seq: number, how: (bytes: Uint8Array) => Uint8Array | undefined): Promise<void> {
    return rewriteEntry(this.nodes.at(-1)?.dataDir as string, seq, how);
  }

  /** From now on nothing can be written to this mirror, until it is opened anew. */
  breakMirror(dataDir: string): void {
    breakDataFile(dataDir);
  }

  async remove(): Promise<void> {
    for (const { log } of this.nodes) await log.close();
    fs.rmSync(this.directory, { recursive: true });
    const { prefix } = this.keys;
    await this.etcd.txn([], [{ remove: prefix, end: prefixEnd(prefix) }]);
  }
}
