// Owns the words for a copy of the log that a node sends to another machine.

export interface SentCopy {
  /** Random: the copy gets it as its own, and a node that is started on the copy is known by it. */
  readonly mirror: string;
  /** The copy holds all records up to this one; 0: it is not known yet what it will hold. */
  readonly last: number;
  /** When the whole copy had been sent, by monotonic.ts; absent: it is being sent. */
  readonly sentAt?: number;
}
