// Owns what an operator is told when the records that etcd has deleted lie on too few machines, and
// when they lie on enough again: one line each time.

import { MIRRORS_MIN } from '../log/etcd/trim.ts';
import type { Tell } from './room-notice.ts';

const FEW = 'the records that etcd has deleted lie on fewer than two machines with a running node';
const WAY_OUT = 'start the other nodes; if their disks are lost, make a copy for a new node now';

export class HoldersNotice {
  private readonly tell: Tell;
  private wereFew = false;

  constructor(tell: Tell) {
    this.tell = tell;
  }

  /** @param through etcd has deleted the records up to this one */
  look(holders: number, through: number): void {
    const areFew = holders < MIRRORS_MIN;
    if (areFew === this.wereFew) return;
    this.wereFew = areFew;
    const fields = { holders, deleted_up_to: through };
    if (areFew) this.tell('warn', FEW, { ...fields, do: WAY_OUT });
    else this.tell('info', 'the records that etcd has deleted lie on two machines again', fields);
  }
}
