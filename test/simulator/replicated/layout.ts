// Owns where the simulated cluster's log lies in etcd.

import { keysOf } from '../../../src/log/etcd/keys.ts';

export const KEYS = keysOf('sim');
export const PREFIX = KEYS.prefix;
