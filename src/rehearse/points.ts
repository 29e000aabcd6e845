// Owns the points at which a rehearsal can step in. Every message to or from a worker passes a
// point, and goes on only after the point has decided what becomes of it. Where the scenario asks
// for nothing, every message passes.

/** Where a message is: a request that has not reached its receiver, or an answer that is due. */
export type Point =
  | 'lease'
  | 'grant'
  | 'heartbeat'
  | 'heartbeat answer'
  | 'report'
  | 'report answer'
  | 'effect'
  | 'effect answer'
  | 'other'
  | 'other answer';

/**
 * The fate of a message.
 * `lose`: the connection is cut, and nobody receives the message.
 * `cut`: half of an answer is written, then the connection is cut.
 * `double`: a request is handed on twice.
 * `unavailable`: a request is refused, as a coordinator refuses that cannot decide now.
 */
export type Fate = 'pass' | 'lose' | 'cut' | 'double' | 'unavailable';

/** One message that has come to a point. */
export interface Arrival {
  readonly point: Point;
  /** The worker process that sent the message, or is to be sent it. */
  readonly worker: number;
  readonly taskId: string | undefined;
  readonly leaseId: string | undefined;
}

/** A message that waits at its point until it is told what becomes of it. */
export interface Held extends Arrival {
  let(fate: Fate): void;
}

type Wanted = (arrival: Arrival) => boolean;

interface Rule {
  readonly point: Point;
  readonly wanted: Wanted;
  decide(arrival: Arrival): Fate | Promise<Fate>;
}

const ANY: Wanted = () => true;

export class Points {
  private readonly rules = new Set<Rule>();
  private readonly held = new Set<Held>();

  /** What becomes of a message; asked once for each message at each of its points. */
  async reach(arrival: Arrival): Promise<Fate> {
    for (const rule of this.rules) {
      if (rule.point === arrival.point && rule.wanted(arrival)) return rule.decide(arrival);
    }
    return 'pass';
  }

  /** The next message that comes to this point waits there. */
  hold(point: Point, wanted: Wanted = ANY): Promise<Held> {
    return new Promise((resolve) => {
      const rule: Rule = {
        point,
        wanted,
        decide: (arrival) => {
          this.rules.delete(rule);
          return this.wait(arrival, resolve);
        },
      };
      this.rules.add(rule);
    });
  }

  /** Every message at this point meets the same fate. @returns ends that. */
  always(point: Point, fate: Fate, wanted: Wanted = ANY): () => void {
    const rule: Rule = { point, wanted, decide: () => fate };
    this.rules.add(rule);
    return () => void this.rules.delete(rule);
  }

  /** Every message at this point waits there. @returns lets them all go on. */
  delay(point: Point, wanted: Wanted = ANY): () => void {
    const waiting = new Set<Held>();
    const rule: Rule = {
      point,
      wanted,
      decide: (arrival) => this.wait(arrival, (held) => void waiting.add(held)),
    };
    this.rules.add(rule);
    return () => {
      this.rules.delete(rule);
      for (const held of waiting) held.let('pass');
    };
  }

  /** Nothing is asked for any more, and what waits goes on. */
  clear(): void {
    this.rules.clear();
    for (const held of [...this.held]) held.let('pass');
  }

  /** @param onWaiting given the message, which waits until its fate is decided. */
  private wait(arrival: Arrival, onWaiting: (held: Held) => void): Promise<Fate> {
    return new Promise<Fate>((decided) => {
      const held: Held = {
        ...arrival,
        let: (fate) => {
          this.held.delete(held);
          decided(fate);
        },
      };
      this.held.add(held);
      onWaiting(held);
    });
  }
}
