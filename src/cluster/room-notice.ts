// Owns what an operator is told when the room in etcd becomes scarce, and when there is room again:
// one line each time.

import type { Level, Room } from './room.ts';

export type Tell = (
  level: 'info' | 'warn',
  msg: string,
  fields: Readonly<Record<string, unknown>>,
) => void;

const WORDS: Readonly<Record<Level, string>> = {
  enough: 'etcd has room again',
  tight: 'etcd fills up',
  full: 'etcd is nearly full: new tasks are refused',
};
const WAY_OUT =
  'etcd forgets what two machines hold: see that a node runs on a second one, or give etcd a ' +
  'larger --quota-backend-bytes';

export class RoomNotice {
  private readonly room: Pick<Room, 'level' | 'measured'>;
  private readonly tell: Tell;
  private told: Level = 'enough';

  constructor(room: Pick<Room, 'level' | 'measured'>, tell: Tell) {
    this.room = room;
    this.tell = tell;
  }

  /** @returns whether something has changed. */
  look(): boolean {
    const { level } = this.room;
    if (level === this.told) return false;
    const wasFull = this.told === 'full';
    this.told = level;
    const { usedBytes: used_bytes, quotaBytes: quota_bytes } = this.room.measured;
    const fields = { used_bytes, quota_bytes };
    if (level === 'enough') this.tell('info', WORDS[level], fields);
    else if (wasFull) this.tell('info', 'new tasks are taken again', fields);
    else this.tell('warn', WORDS[level], { ...fields, do: WAY_OUT });
    return true;
  }
}
