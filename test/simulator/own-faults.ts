// Owns the faults that are planted in the simulator's own short cuts: what the model keeps beside
// its tasks so as not to look at all of them, and what is read from the log only once. A short cut
// that goes wrong must not go unseen.

import type { Fault } from './faults.ts';

const FAULTS: readonly Omit<Fault, 'isOwn'>[] = [
  {
    name: 'the model keeps a task in its order that has left from the middle',
    changes: [['list.splice(placeIn(list, task), 1)', 'if (list[0] === task) list.shift()']],
    seenBy: ['bookkeeping', 'model', 'exception'],
  },
  {
    name: 'the model orders by time alone',
    changes: [
      [
        'a.eligibleAt < b.eligibleAt || (a.eligibleAt === b.eligibleAt && a.place < b.place)',
        'a.eligibleAt < b.eligibleAt',
      ],
    ],
    seenBy: ['bookkeeping', 'model', 'exception'],
  },
  {
    name: 'the model does not count a lease down that ran out',
    changes: [
      ['this.count(task, -1)', 'to?.state !== "WAITING" && this.count(task, -1)'],
      ['this.remove(from)', 'this.remove(from, to)'],
      ['    remove(task) {', '    remove(task, to) {'],
    ],
    seenBy: ['bookkeeping', 'model'],
  },
  {
    name: 'the model believes that nothing is to be forgotten after records were taken back',
    changes: [
      [
        'takenBack() {\n        this.quietUntil = Number.NEGATIVE_INFINITY',
        'takenBack() {\n        this.quietUntil = Number.POSITIVE_INFINITY',
      ],
    ],
    seenBy: ['bookkeeping', 'model'],
  },
  {
    name: 'the model takes records back and leaves its order as it was',
    changes: [
      [
        'this.put(id, to, from);',
        'this.order.changed = () => {}, this.put(id, to, from), delete this.order.changed;',
      ],
    ],
    seenBy: ['bookkeeping', 'model', 'exception'],
  },
  {
    name: 'a record that is read again is not what it was',
    changes: [['return known;', 'return { ...known, requestId: undefined };']],
    seenBy: ['digest', 'agreement', 'model'],
  },
];

export const OWN_FAULTS: readonly Fault[] = FAULTS.map((fault) => ({ ...fault, isOwn: true }));
