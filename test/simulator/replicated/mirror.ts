// Owns the disk of a machine with its mirror of the log. Each record that is written there is
// compared with what etcd has agreed on at that moment: a mirror is a prefix of the log, never
// ahead of it.

import { Violation } from '../checkers/violation.ts';
import { DecodedStore } from '../decoded.ts';
import type { Agreed } from './agreed.ts';

export class MirrorStore extends DecodedStore {
  private readonly agreed: Agreed;
  private readonly name: string;

  constructor(name: string, agreed: Agreed) {
    super();
    this.name = name;
    this.agreed = agreed;
  }

  override commit(first: number, skippedFrom: number, entries: readonly Uint8Array[]): boolean {
    let seq = first;
    for (const bytes of entries) {
      const wrong = this.agreed.differs(seq, bytes);
      if (wrong !== undefined) {
        this.agreed.report(new Violation('mirror', `${this.name}: record ${seq} ${wrong}`));
        return false;
      }
      seq += 1;
    }
    for (let missing = skippedFrom; missing < first; missing += 1) {
      if (this.agreed.has(missing)) {
        const what = `${this.name}: record ${missing} is left out, and etcd has it`;
        this.agreed.report(new Violation('mirror', what));
        return false;
      }
    }
    return super.commit(first, skippedFrom, entries);
  }

  /** A copy of another machine's mirror, onto this empty disk. */
  fill(other: MirrorStore): void {
    for (const [seq, bytes] of other.entries) this.entries.set(seq, bytes);
    for (const [from, to] of other.dropped.ranges) this.dropped.add(from, to);
    this.last = other.last;
    this.bytes = other.bytes;
  }
}
