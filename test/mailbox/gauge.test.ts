// The bound: what is admitted, what is refused, and who may use the last eighth.

import { expect } from 'chai';
import { Admitted, Gauge, shareGauge } from '../../src/mailbox/gauge.ts';

const open = (maxRequests: number, maxBytes: number) =>
  new Gauge(shareGauge({ maxRequests, maxBytes }));

const fill = (gauge: Gauge, bytes: number, report: boolean) => {
  let admitted = 0;
  while (gauge.admit(bytes, report)) admitted += 1;
  return admitted;
};

describe('mailbox gauge', () => {
  it('keeps the last eighth of the requests for reports', () => {
    const gauge = open(64, 1_000_000);
    expect(fill(gauge, 10, false)).to.equal(56);
    expect(fill(gauge, 10, true)).to.equal(8);
    expect(gauge.depth()).to.deep.equal({ requests: 64, bytes: 640 });
  });

  it('keeps the last eighth of the bytes for reports', () => {
    const gauge = open(1_000_000, 8_000);
    expect(fill(gauge, 100, false)).to.equal(70);
    expect(fill(gauge, 100, true)).to.equal(10);
    expect(gauge.depth()).to.deep.equal({ requests: 80, bytes: 8_000 });
  });

  it('counts refusals, and a refusal changes nothing else', () => {
    const gauge = open(8, 1_000);
    fill(gauge, 10, true);
    const before = gauge.depth();
    const refusedBefore = gauge.refused;
    expect(gauge.admit(10, true)).to.equal(false);
    expect(gauge.admit(10, false)).to.equal(false);
    expect(gauge.depth()).to.deep.equal(before);
    expect(gauge.refused).to.equal(refusedBefore + 2);
  });

  it('has room again for what was released', () => {
    const gauge = open(8, 1_000);
    fill(gauge, 10, true);
    gauge.release(1, 10);
    expect(gauge.admit(10, true)).to.equal(true);
    expect(gauge.admit(10, true)).to.equal(false);
  });

  it('admits a message larger than the bound only when nothing else is there', () => {
    const gauge = open(8, 1_000);
    expect(gauge.admit(5_000, false)).to.equal(true);
    expect(gauge.admit(1, true)).to.equal(false);
    gauge.release(1, 5_000);
    expect(gauge.admit(1, false)).to.equal(true);
    expect(gauge.admit(5_000, false)).to.equal(false);
  });

  it('refuses limits that cannot work', () => {
    for (const [maxRequests, maxBytes] of [
      [7, 100],
      [8, 0],
      [8.5, 100],
      [8, 2 ** 31],
      [Number.NaN, 100],
    ] as const) {
      expect(() => shareGauge({ maxRequests, maxBytes }), `${maxRequests} ${maxBytes}`).to.throw(
        RangeError,
      );
    }
  });

  it('knows what one producer was admitted with, past the wrap of its counters', () => {
    const admitted = new Admitted(Admitted.share());
    const giant = 2 ** 30;
    for (let message = 0; message < 5; message++) admitted.add(giant);
    expect(admitted.ahead(4, 4 * giant)).to.deep.equal({ requests: 1, bytes: giant });
    expect(admitted.ahead(5, 5 * giant)).to.deep.equal({ requests: 0, bytes: 0 });
  });
});
