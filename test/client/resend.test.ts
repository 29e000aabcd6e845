// The retry decision as a table: what is sent again, after which pause, and when to give up.

import { expect } from 'chai';
import { nextRetryMs, type Trouble } from '../../src/client/resend.ts';

const knobs = { retries: 5, backoffMs: 100, backoffMaxMs: 1_000 };
const unwritten: Trouble = { kind: 'unanswered', written: false };
const written: Trouble = { kind: 'unanswered', written: true };
const refused = (reason: string, retryAfterMs?: number): Trouble => ({
  kind: 'unavailable',
  reason,
  retryAfterMs,
});

describe('retry', () => {
  it('doubles the pause up to its bound, spread over its upper half', () => {
    const pauses = [1, 2, 3, 4, 5].map((n) => [
      nextRetryMs(knobs, true, n, written, 0),
      nextRetryMs(knobs, true, n, written, 0.999_999),
    ]);
    expect(pauses.map(([least]) => least)).to.deep.equal([50, 100, 200, 400, 500]);
    expect(pauses.map(([, most]) => Math.round(most ?? 0))).to.deep.equal([
      100, 200, 400, 800, 1_000,
    ]);
  });

  it('gives up after its retries', () => {
    expect(nextRetryMs(knobs, true, 6, written, 0)).to.equal(undefined);
    expect(nextRetryMs({ ...knobs, retries: 0 }, true, 1, unwritten, 0)).to.equal(undefined);
  });

  it('repeats what is not repeatable only when it surely did not happen', () => {
    expect(nextRetryMs(knobs, false, 1, written, 0)).to.equal(undefined);
    expect(nextRetryMs(knobs, false, 1, unwritten, 0)).to.equal(50);
    expect(nextRetryMs(knobs, false, 1, refused('log_unavailable'), 0)).to.equal(undefined);
    for (const reason of ['mailbox_full', 'recovering', 'shutting_down']) {
      expect(nextRetryMs(knobs, false, 1, refused(reason), 0), reason).to.equal(50);
    }
  });

  it('waits as long as it was asked to, within its own bound', () => {
    expect(nextRetryMs(knobs, true, 1, refused('recovering', 700), 0)).to.equal(700);
    expect(nextRetryMs(knobs, true, 1, refused('recovering', 60_000), 0)).to.equal(1_000);
  });
});
