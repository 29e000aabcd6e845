// Owns the hash of request ids as the coordinator computes it: states can be compared only when
// both sides hash alike.

import { createHash } from 'node:crypto';
import { digestOf } from '../core/digest-index.ts';
import type { DigestText } from '../core/state.ts';

export const digestText: DigestText = (text) =>
  digestOf(createHash('sha256').update(text).digest());
