// Owns the faults that are planted in what makes several machines one log. Each is something that
// somebody might leave out or write the other way round.

import type { Fault } from '../faults.ts';

export const CLUSTER_FAULTS: readonly Fault[] = [
  {
    name: 'answers without a record are not confirmed',
    changes: [
      [
        'const mustGather = needsProof && this.log.confirm !== undefined',
        'const mustGather = false',
      ],
    ],
    seenBy: ['stale'],
  },
  {
    name: 'an answer joins the confirmation in flight',
    changes: [
      [
        'if (mustGather || this.gathering.records.length > 0)',
        'if ((mustGather && !this.inFlight) || this.gathering.records.length > 0)',
      ],
    ],
    seenBy: ['stale'],
  },
  {
    name: 'a refused group is judged by its number, not by its writer',
    changes: [
      [
        'Buffer.compare(head.value, this.pending) === 0',
        'knownHead(head).head.last === JSON.parse(Buffer.from(this.pending).toString()).last',
      ],
    ],
    seenBy: ['mirror', 'durability'],
  },
  {
    name: 'a group that was not answered is sent again on what head is by then',
    changes: [
      [
        'return etcd.txn(conditions, then, otherwise);',
        'return look(etcd, keys).then(({ known }) => ' +
          'etcd.txn(isStill(keys, known), then, otherwise));',
      ],
    ],
    seenBy: ['agreed'],
  },
  {
    name: 'the mirror is written before etcd',
    changes: [
      [
        "const agreed = await this.tail.append(records, epoch); return agreed === 'durable' ? " +
          'this.mirror.append(records) : agreed;',
        'await this.mirror.append(records); return this.tail.append(records, epoch);',
      ],
    ],
    seenBy: ['mirror'],
  },
  {
    name: 'pieces beyond head are deleted before the start',
    changes: [
      [
        'const agreed = await this.tail.append([record], record.seq);',
        'const { etcd, keys } = this.options; ' +
          "const remove = keys.chunk(record.seq, 0, 0); const end = keys.chunks + '~'; " +
          'await etcd.txn([], [{ remove, end }]).catch(() => {}); ' +
          'const agreed = await this.tail.append([record], record.seq);',
      ],
    ],
    seenBy: ['durability', 'trim'],
  },
  {
    name: 'a gap is inferred where records were trimmed',
    changes: [
      ['trim === undefined || trim.through <= last', 'true'],
      ['if (manifest.after !== end.last)', 'if (false)'],
      ['end.check !== undefined && manifest.afterCheck !== end.check', 'false'],
    ],
    seenBy: ['mirror', 'exception'],
  },
  {
    name: 'the wall clock decides at a takeover',
    changes: [['if (inherited !== undefined)', 'if (false)']],
    seenBy: ['time'],
  },
  {
    name: 'the maximum of the beats is kept',
    changes: [
      [
        'if (isKnown && beat.revision === known.revision) return known;',
        'if (isKnown && known.epoch === beat.epoch && known.at + ' +
          'local.monotonicMs - known.monotonicMs > beat.at) return known;',
      ],
    ],
    seenBy: ['time'],
  },
  {
    name: 'the time of an earlier leader is inherited',
    changes: [['if (heard.epoch !== epoch) return 0;', '']],
    seenBy: ['time'],
  },
  {
    name: 'the reports of dead nodes count for trimming',
    changes: [
      ['if (!isLive || mirrored === undefined) continue;', 'if (mirrored === undefined) continue;'],
    ],
    seenBy: ['trim', 'exception'],
  },
  {
    name: 'one mirror is enough to trim',
    changes: [['Math.max(MIRRORS_MIN, Math.floor(machines / 2) + 1)', '1']],
    seenBy: ['trim'],
  },
];

/** What takes a moment that chance does not find is played as a scene of its own. */
export const SCENE_FAULTS: readonly (Fault & { readonly entry: string; readonly scene: string })[] =
  [
    {
      name: 'head is compared without its value',
      changes: [
        [
          '{ key, modRevision: known.revision }, { key, value: known.value },',
          '{ key, modRevision: known.revision },',
        ],
      ],
      seenBy: ['restored'],
      entry: 'test/simulator/replicated/restored.js',
      scene: 'playRestored',
    },
    {
      name: 'a log is opened again without a barrier',
      changes: [["if (!isWriter) return 'settled';", "if (isWriter || true) return 'settled';"]],
      seenBy: ['barrier'],
      entry: 'test/simulator/replicated/late-group.js',
      scene: 'playLateGroup',
    },
    {
      name: 'copies that are being made are not waited for',
      changes: [['mirrored ?? 0), ...holds)', 'mirrored ?? 0))']],
      seenBy: ['hold'],
      entry: 'test/simulator/replicated/held-copy.js',
      scene: 'playHeldCopies',
    },
    {
      name: 'copies are looked at before the report is made',
      changes: [
        [
          'const report = this.options.report(); await this.holds.tell();',
          'await this.holds.tell(); const report = this.options.report();',
        ],
      ],
      seenBy: ['hold'],
      entry: 'test/simulator/replicated/held-copy.js',
      scene: 'playHeldCopies',
    },
    {
      name: 'a copy is held until it was sent',
      changes: [['if (held.copy.sentAt === undefined && !(', 'if (!(']],
      seenBy: ['hold'],
      entry: 'test/simulator/replicated/held-copy.js',
      scene: 'playHeldCopies',
    },
  ];
