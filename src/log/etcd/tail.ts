// Owns the end of the log in etcd: appending a group, learning what became of one that was not
// answered, and proving that nobody else leads. It knows no mirror.
//
// An append is one transaction on the condition that head is still what this writer knows, in its
// value and its revision. Each transaction changes the revision of head, so that at most one of all
// the transactions that rest on the same head can ever pass. Three things follow:
//  - Another writer's start makes every later append of this one fail, whatever its clock says.
//  - After a lost answer the very same transaction is sent again. One of the two passes; when the
//    second is refused, head says whether the first was it.
//  - A group that is given up may still arrive. Before anything is believed again, head is written
//    unchanged (the barrier): then its condition cannot hold any more.

import { invariant } from '../../model/assert.ts';
import type { LogRecord } from '../../model/records.ts';
import type { AppendResult } from '../log.ts';
import { EtcdError, type Operation, type TxnAnswer } from './etcd.ts';
import { encodeGroup, encodeManifest } from './group.ts';
import { encodeHead, type Head } from './head.ts';
import { type Repeating, untilAnswered } from './repeating.ts';
import {
  freeze,
  isSameHead,
  isStill,
  type KnownHead,
  knownHead,
  look,
  type Snapshot,
} from './snapshot.ts';
import type { Resolved, TailOptions } from './tail-options.ts';
import { decodeFrozen, frozenText, setBackText } from './trim-mark.ts';

/** Pieces on their way. */
const AT_ONCE = 4;

export class Tail {
  /** Why nothing is taken, in words. */
  trouble: string | undefined;
  /** It was refused because etcd holds less than some node does: no start of anybody helps. */
  isSetBack = false;
  /** The newest record that etcd was seen to hold; the mirror may lack it. */
  endSeen: number | undefined;
  private readonly options: TailOptions;
  private readonly signal: AbortSignal;
  private at: KnownHead | undefined;
  /** What head will be if the group whose answer is missing was or will be taken. */
  private pending: Uint8Array | undefined;

  constructor(options: TailOptions, signal: AbortSignal) {
    this.options = options;
    this.signal = signal;
  }

  /** Head as last known: it may be another writer's by now. */
  get known(): KnownHead {
    invariant(this.at !== undefined, 'the log in etcd was not looked at yet');
    return this.at;
  }

  get isWriter(): boolean {
    return this.at?.head.writer === this.options.writer;
  }

  /** From now on this is what is known of head. */
  adopt(known: KnownHead): void {
    this.at = known;
    this.endSeen = Math.max(this.endSeen ?? 0, known.head.last);
    this.pending = undefined;
  }

  /** As etcd stands after this call began. @throws EtcdError, LogError LOG_STORE */
  look(repeating = this.repeating()): Promise<Snapshot> {
    return untilAnswered(() => look(this.options.etcd, this.options.keys), repeating);
  }

  /**
   * Appends one group behind what is known.
   * @param epoch the number of the start that makes this process the writer
   * @throws LogError LOG_STORE
   */
  async append(records: readonly LogRecord[], epoch: number): Promise<AppendResult> {
    const { known } = this;
    const { writer, keys, pieceBytes } = this.options;
    const group = encodeGroup(records, known.head, known.revision, pieceBytes);
    const { manifest, pieces, lastCheck } = group;
    const head: Head = { epoch, last: manifest.last, check: lastCheck, writer };
    const value = encodeHead(head);
    const puts = pieces.map((piece, i): Operation => {
      return { put: keys.chunk(manifest.first, known.revision, i), value: piece };
    });
    const last = puts.pop();
    invariant(last !== undefined, 'a group has at least one piece');
    const repeating = this.repeating();
    try {
      const refusal = await this.putAll(puts, repeating);
      if (refusal !== undefined) return await this.judge(refusal);
      this.pending = value;
      const whole = { put: keys.group(manifest.first), value: encodeManifest(manifest) };
      const answer = await this.ifUnchanged([last, whole, { put: keys.head, value }], repeating);
      if (!answer.passed) return await this.judge(answer);
      this.adopt({ head, value, revision: answer.revision });
      this.trouble = undefined;
      return 'durable';
    } catch (error) {
      this.count('unknown');
      return this.notKnown(error);
    }
  }

  /**
   * Whether nobody has written since, by a read that begins now.
   * @returns 'failed' also when it cannot be known. @throws LogError LOG_STORE
   */
  async confirm(): Promise<AppendResult> {
    try {
      const { known, frozen } = await this.look();
      if (known && isSameHead(known, this.known) && frozen === undefined) return 'durable';
      return await this.judgeHead(known, frozen && frozenText(frozen));
    } catch (error) {
      return this.notKnown(error);
    }
  }

  /**
   * After 'failed': makes sure that nothing of this process is under way, however long that takes.
   * @returns 'fenced' when another writer has the log.
   * @throws EtcdError when the signal aborted, LogError LOG_STORE
   */
  async settle(): Promise<'settled' | 'fenced'> {
    const { etcd, keys, writer } = this.options;
    const { known, isWriter } = this;
    // Only the writer may renew head: another one's barrier would refuse a group of the leader.
    if (!isWriter) return 'settled';
    const renew: Operation[] = [{ put: keys.head, value: known.value }];
    const barrier = () => etcd.txn(isStill(keys, known), renew, [{ get: keys.head }]);
    const answer = await untilAnswered(barrier, {
      ...this.repeating(),
      giveUpAt: Number.POSITIVE_INFINITY,
      goesOn: ({ message }) => {
        this.trouble = message;
        return true;
      },
    });
    if (answer.passed) {
      this.adopt({ ...known, revision: answer.revision });
      return 'settled';
    }
    const [kv] = answer.found[0] ?? [];
    const found = kv && knownHead(kv);
    if (found?.head.writer === writer && found.head.last >= known.head.last) {
      this.adopt(found);
      return 'settled';
    }
    await this.judgeHead(found, undefined);
    return 'fenced';
  }

  /**
   * etcd holds less than this node: nobody may start on that.
   * @param own the last record of this node
   * @returns what to tell people
   */
  async freeze(found: KnownHead | undefined, own: number): Promise<string> {
    const { etcd, keys, node } = this.options;
    const put = () =>
      freeze(etcd, keys, found, { by: node, last: own, head: found?.head.last ?? 0 });
    // Whoever looks next sees the same and tries again.
    await untilAnswered(put, this.repeating()).catch(() => {});
    return setBackText(own, found?.head.last);
  }

  private repeating(): Repeating {
    const { time, stallMs } = this.options;
    return { time, giveUpAt: time.monotonic() + stallMs, signal: this.signal };
  }

  private notKnown(error: unknown): AppendResult {
    if (!(error instanceof EtcdError)) throw error;
    this.trouble = error.message;
    return 'failed';
  }

  private ifUnchanged(then: readonly Operation[], repeating: Repeating): Promise<TxnAnswer> {
    const { etcd, keys } = this.options;
    const conditions = [...isStill(keys, this.known), { key: keys.frozen, modRevision: 0 }];
    const otherwise = [{ get: keys.head }, { get: keys.frozen }];
    let tries = 0;
    return untilAnswered(() => {
      tries += 1;
      if (tries > 1) this.count('resent');
      return etcd.txn(conditions, then, otherwise);
    }, repeating);
  }

  private count(what: keyof Resolved): void {
    if (this.options.resolved) this.options.resolved[what] += 1;
  }

  /** @returns the first refusal. */
  private async putAll(
    puts: readonly Operation[],
    repeating: Repeating,
  ): Promise<TxnAnswer | undefined> {
    for (let at = 0; at < puts.length; at += AT_ONCE) {
      const some = puts.slice(at, at + AT_ONCE).map((put) => this.ifUnchanged([put], repeating));
      const refusal = (await Promise.all(some)).find(({ passed }) => !passed);
      if (refusal !== undefined) return refusal;
    }
    return undefined;
  }

  /** What a refused transaction means. */
  private async judge({ found }: TxnAnswer): Promise<AppendResult> {
    const [head, frozen] = found.map(([kv]) => kv);
    if (head && this.pending && Buffer.compare(head.value, this.pending) === 0) {
      // An earlier try had passed, and its answer was lost.
      this.count('durable');
      this.adopt(knownHead(head));
      this.trouble = undefined;
      return 'durable';
    }
    const why = frozen && frozenText(decodeFrozen(frozen.value));
    return this.judgeHead(head && knownHead(head), why);
  }

  private async judgeHead(
    found: KnownHead | undefined,
    frozen: string | undefined,
  ): Promise<AppendResult> {
    const { last } = this.known.head;
    if (found === undefined || found.head.last < last) {
      this.trouble = await this.freeze(found, last);
      this.isSetBack = true;
      return 'fenced';
    }
    if (isSameHead(found, this.known)) {
      this.trouble = frozen;
      this.isSetBack = frozen !== undefined;
      return 'fenced';
    }
    if (found.head.writer === this.options.writer) {
      // `settle` sorts it out.
      this.trouble = 'something that was given up has reached etcd after all';
      return 'failed';
    }
    this.trouble = `another node leads since record ${found.head.epoch}`;
    return 'fenced';
  }
}
