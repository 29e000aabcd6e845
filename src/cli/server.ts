// Owns how commands talk to a server: over the library's transports, whichever the URL names. A
// request without an answer is sent again where repeating it is harmless. This file knows a
// request only by its name.

import { LeaseholdError } from '../client/errors.ts';
import { openTransport } from '../client/exchanger.ts';
import { monotonicMs, pause } from '../client/local-clock.ts';
import { tryingAgain } from '../client/outage.ts';
import { isRepeatable, mayHaveHappened, nextRetryMs } from '../client/resend.ts';
import {
  type Answer,
  type Call,
  type Transport,
  TransportFailure,
  type Wire,
} from '../client/transport.ts';
import { DURATION_MAX } from '../model/limits.ts';
import { CliError, EXIT, type Io, patienceMs, say, usage } from './command.ts';
import { DEFAULT_URL, type ServerOptions, tokenOf } from './server-options.ts';
import { failureOf, isRead, notLeaderIn, troubleOf, troubleText } from './trouble.ts';

const TIMEOUT_MS = 30_000;
/** One attempt, above the ten seconds after which a server gives up its own device. */
const ATTEMPT_MS = 20_000;
/** Reads that may search the whole log end when they end. */
const SEARCHES: ReadonlySet<string> = new Set(['log', 'explain', 'tasks']);
const TIMER_MAX_MS = 2 ** 31 - 1;
const BACKOFF = { retries: Number.POSITIVE_INFINITY, backoffMs: 100, backoffMaxMs: 2_000 };

export interface Asked {
  readonly body: Wire;
  /** An earlier attempt may have taken effect although its answer was lost. */
  readonly resent: boolean;
}

export class Server {
  readonly #urls: readonly string[];
  readonly #transports: readonly Transport[];
  #timeoutMs: number;
  /** Somebody who names a time wants it to be used, also while nothing listens. */
  readonly #isPatient: boolean;
  readonly #io: Io;
  #at = 0;
  #wasReached = false;
  #wasTold = false;

  /** @throws CliError with the usage status for a URL or token that cannot be used. */
  constructor(options: ServerOptions, io: Io) {
    const { env } = io;
    const { timeout } = options;
    this.#io = io;
    this.#isPatient = timeout !== undefined;
    this.#timeoutMs =
      timeout === undefined ? TIMEOUT_MS : patienceMs('--timeout', timeout, 1, DURATION_MAX);
    this.#urls = (options.url ?? env['LEASEHOLD_URL'] ?? DEFAULT_URL).split(',');
    const givenBy = options.url === undefined ? 'LEASEHOLD_URL' : '--url';
    const token = tokenOf(options, io);
    this.#transports = this.#urls.map((url) => transportOf(url, token, givenBy));
  }

  /** The address that answers, or is tried. */
  get url(): string {
    return this.#urls[this.#at] as string;
  }

  /** How long to go on trying without an answer. */
  get timeoutMs(): number {
    return this.#timeoutMs;
  }

  get transport(): Transport {
    return this.#transports[this.#at] as Transport;
  }

  /**
   * @param waitMs how long the server may take by the request itself: the wait of a long poll
   * @throws CliError when no answer comes, or the answer is not a coordinator's
   */
  async ask(op: string, params: Wire, waitMs = 0): Promise<Asked> {
    const call = { op, params };
    const { answers, resent } = await this.#exchange([call], op, waitMs, async (transport, how) => [
      await transport.send(call, how),
    ]);
    return { body: (answers[0] as Answer).body, resent };
  }

  /**
   * Sends the request once, without a retry.
   * @returns the body of the answer; undefined when there was none or it was UNAVAILABLE
   */
  async askOnce(op: string, params: Wire, waitMs: number): Promise<Wire | undefined> {
    const timeoutMs = ATTEMPT_MS + waitMs;
    const answer = await this.transport
      .send({ op, params }, { timeoutMs })
      .catch((error) => failureOf(error, this.url));
    if (answer instanceof TransportFailure) return undefined;
    return answer.body['outcome'] === 'UNAVAILABLE' ? undefined : answer.body;
  }

  /** From now on a server that does not answer is waited for at least so long. */
  waitFor(patienceMs: number): void {
    if (!this.#isPatient) this.#timeoutMs = Math.max(this.#timeoutMs, patienceMs);
  }

  /**
   * Asks for leases. When the connection is cut during the wait, the command asks again for the
   * rest of the time: a coordinator withdraws a waiting lease request when its connection closes.
   * A lease that was granted in that moment expires by itself.
   * @param waitMs the longest wait in all
   */
  async lease(params: Wire, waitMs: number): Promise<Asked> {
    const endsAt = monotonicMs() + waitMs;
    for (;;) {
      const leftMs = Math.max(0, Math.floor(endsAt - monotonicMs()));
      try {
        return await this.ask('lease', { ...params, wait_ms: leftMs }, leftMs);
      } catch (error) {
        const isCut = error instanceof CliError && error.status === EXIT.noServer;
        if (!isCut || !this.#wasReached || endsAt - monotonicMs() < BACKOFF.backoffMs) throw error;
        this.tellTrouble('the connection was cut during the wait');
        await pause(BACKOFF.backoffMs);
      }
    }
  }

  /** @returns the body of each answer, in the order of the calls. */
  async batch(calls: readonly Call[]): Promise<{ bodies: Wire[]; resent: boolean }> {
    const { answers, resent } = await this.#exchange(calls, 'batch', 0, (transport, how) =>
      transport.sendBatch(calls, how),
    );
    return { bodies: answers.map(({ body }) => body), resent };
  }

  close(): void {
    for (const transport of this.#transports) transport.close();
  }

  /** The trouble that was told is over; the next one is told again. */
  tellRecovery(what: string): void {
    if (this.#wasTold) say(this.#io.stderr, `leasehold: ${this.url}: ${what}`);
    this.#wasTold = false;
  }

  /** What is waited for, told to a person; a program needs no such line. */
  tellWait(what: string): void {
    if (this.#io.stderr.isTTY) say(this.#io.stderr, `${what} (Ctrl-C ends it)`);
  }

  /** Told once: who waits without a word is taken to hang. */
  tellTrouble(why: string): void {
    if (this.#wasTold) return;
    this.#wasTold = true;
    say(this.#io.stderr, `leasehold: ${this.url}: ${tryingAgain(why)}`);
  }

  async #exchange(
    calls: readonly Call[],
    op: string,
    waitMs: number,
    send: (transport: Transport, how: { timeoutMs: number }) => Promise<Answer[]>,
  ): Promise<{ answers: Answer[]; resent: boolean }> {
    // A redrive that is repeated answers the task that the first one made.
    const repeatable = calls.every(({ op: one }) => isRepeatable(one) || one === 'redrive');
    const endsAt = monotonicMs() + this.#timeoutMs;
    let resent = false;
    for (let attempt = 1; ; attempt += 1) {
      const leftMs = endsAt - monotonicMs();
      const timeoutMs = this.#attemptMs(op, leftMs) + waitMs;
      const result = await send(this.transport, { timeoutMs }).catch((error) =>
        failureOf(error, this.url),
      );
      const trouble = troubleOf(result);
      if (trouble === undefined || trouble.kind === 'unavailable') this.#wasReached = true;
      if (trouble === undefined) return { answers: result as Answer[], resent };
      if (trouble.kind === 'unanswered' && trouble.written) this.#wasReached = true;
      const pauseMs = nextRetryMs(BACKOFF, repeatable, attempt, trouble, Math.random());
      const refusal = Array.isArray(result) ? notLeaderIn(result) : undefined;
      const isElsewhere = refusal?.['leader'] !== undefined && this.#urls.length === 1;
      const isOver = isElsewhere || pauseMs === undefined || endsAt - monotonicMs() < pauseMs;
      if (isOver || (!this.#worthWhile() && attempt >= this.#urls.length)) {
        if (Array.isArray(result)) return { answers: result, resent };
        throw this.#noAnswer(calls, result, resent);
      }
      resent ||= mayHaveHappened(trouble);
      const isNews = trouble.kind === 'unavailable' && refusal === undefined;
      if (attempt > 1 || isNews) this.tellTrouble(troubleText(result));
      if (!Array.isArray(result) || refusal !== undefined) this.#goOn(refusal?.['leader']);
      await pause(pauseMs);
    }
  }

  /** Asks the next server when this one does not answer, or the one that is named as the leader. */
  #goOn(leader: unknown): void {
    const named = this.#urls.indexOf(String(leader));
    this.#at = named >= 0 ? named : (this.#at + 1) % this.#urls.length;
  }

  /** A command that has never met a server is told at once that there is none. */
  #worthWhile(): boolean {
    return this.#wasReached || this.#isPatient;
  }

  #attemptMs(op: string, leftMs: number): number {
    if (this.#isPatient) return Math.max(1, Math.min(leftMs, TIMER_MAX_MS / 2));
    return SEARCHES.has(op) ? TIMER_MAX_MS / 2 : Math.max(1, Math.min(leftMs, ATTEMPT_MS));
  }

  #noAnswer(calls: readonly Call[], failure: TransportFailure, resent: boolean): CliError {
    const isUnknown = (failure.written || resent) && !calls.every(({ op }) => isRead(op));
    const unknown = isUnknown ? '; what became of the request is not known' : '';
    const why = `no answer from ${this.url}: ${troubleText(failure)}${unknown}`;
    return new CliError(EXIT.noServer, why);
  }
}

function transportOf(url: string, token: string | undefined, givenBy: string): Transport {
  try {
    return openTransport(url.trim(), token);
  } catch (error) {
    throw error instanceof LeaseholdError ? usage(`${givenBy}: ${error.message}`) : error;
  }
}
