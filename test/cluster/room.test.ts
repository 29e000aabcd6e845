// How full etcd is taken to be, between the looks at it, too, and when that is told.

import { expect } from 'chai';
import { Room } from '../../src/cluster/room.ts';
import { RoomNotice } from '../../src/cluster/room-notice.ts';

const QUOTA = 1_000_000_000;
/** What etcd may take beyond what is in use. */
const SLACK = 4 * 1024 * 1024;

class Stage {
  written = 0;
  readonly room = new Room(() => this.written);
  readonly said: string[] = [];
  private readonly notice = new RoomNotice(this.room, (level, msg) => {
    this.said.push(`${level} ${msg}`);
  });

  /** @param usedBytes in thousands, with the slack */
  used(usedBytes: number, isKnown = true): string {
    const quotaBytes = isKnown ? QUOTA : undefined;
    this.room.measure({ usedBytes: 1_000 * usedBytes - SLACK, quotaBytes }, this.written);
    this.notice.look();
    return this.room.level;
  }
}

describe('the room in etcd', () => {
  it('is scarce from 70 % of the quota on, and ends for new tasks at 85 %', () => {
    const stage = new Stage();
    expect(stage.used(690_000)).to.equal('enough');
    expect(stage.used(700_000)).to.equal('tight');
    expect(stage.used(849_999)).to.equal('tight');
    expect(stage.room.refusal).to.equal(undefined);
    expect(stage.used(850_000)).to.equal('full');
    expect(stage.room.refusal).to.include('85 % of its quota of 954 MiB');
  });

  it('comes back a little below, so that nothing flaps', () => {
    const stage = new Stage();
    stage.used(860_000);
    expect(stage.used(810_000)).to.equal('full');
    expect(stage.used(799_000)).to.equal('tight');
    expect(stage.used(820_000)).to.equal('tight');
    expect(stage.used(660_000)).to.equal('tight');
    expect(stage.used(640_000)).to.equal('enough');
  });

  it('shrinks by what is written since etcd was looked at', () => {
    const stage = new Stage();
    stage.used(600_000);
    stage.written += 240_000_000;
    expect(stage.room.level).to.equal('tight');
    stage.written += 20_000_000;
    expect(stage.room.refusal).to.include('86 %');
    expect(stage.used(300_000)).to.equal('enough');
  });

  it('never ends where etcd does not tell its quota', () => {
    const stage = new Stage();
    stage.written += 10 ** 12;
    expect(stage.used(10 ** 12, false)).to.equal('enough');
    expect(stage.room.refusal).to.equal(undefined);
  });

  it('is told once each time that it changes', () => {
    const stage = new Stage();
    for (const used of [100, 720_000, 730_000, 870_000, 880_000, 780_000, 100, 200])
      stage.used(used);
    expect(stage.said).to.deep.equal([
      'warn etcd fills up',
      'warn etcd is nearly full: new tasks are refused',
      'info new tasks are taken again',
      'info etcd has room again',
    ]);
  });
});
