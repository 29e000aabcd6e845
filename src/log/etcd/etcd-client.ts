// Owns the calls of etcd.ts: how each becomes a message to a member, and its answer a value.

import {
  type Condition,
  type Etcd,
  type EtcdError,
  type EtcdStatus,
  type Operation,
  type RangeAnswer,
  type RangeOptions,
  type TxnAnswer,
  type Watch,
  type WatchListener,
} from './etcd.ts';
import { type Member, Members, type User } from './etcd-members.ts';
import { Watching } from './watching.ts';
import type {
  AlarmResponse,
  LeaseResponse,
  RangeResponse,
  StatusResponse,
  TxnResponse,
} from './wire.ts';
import { closed } from './wire-errors.ts';
import { bytesOf, keyValueOf, numberOf, wireCondition, wireOperation } from './wire-values.ts';

export class EtcdClient implements Etcd {
  private readonly members: Members;
  private readonly watches = new Set<Watching>();

  constructor(members: readonly Member[], callMs: number, user?: User) {
    this.members = new Members(members, callMs, user);
  }

  async txn(
    conditions: readonly Condition[],
    then: readonly Operation[],
    otherwise: readonly Operation[] = [],
  ): Promise<TxnAnswer> {
    const answer = await this.members.ask<TxnResponse>('Txn', {
      compare: conditions.map(wireCondition),
      success: then.map(wireOperation),
      failure: otherwise.map(wireOperation),
    });
    const ranges = answer.responses.filter(({ response_range }) => response_range);
    return {
      passed: answer.succeeded,
      revision: numberOf(answer.header.revision),
      found: ranges.map(({ response_range }) => (response_range?.kvs ?? []).map(keyValueOf)),
    };
  }

  async range(
    key: string,
    end: string | undefined,
    { limit, revision }: RangeOptions = {},
  ): Promise<RangeAnswer> {
    const { kvs, more, header } = await this.members.ask<RangeResponse>('Range', {
      key: bytesOf(key),
      ...(end === undefined ? {} : { range_end: bytesOf(end) }),
      ...(limit === undefined ? {} : { limit }),
      ...(revision === undefined ? {} : { revision }),
    });
    return { kvs: kvs.map(keyValueOf), more, revision: numberOf(header.revision) };
  }

  watch(prefix: string, fromRevision: number, listener: WatchListener): Watch {
    const member = this.members.current;
    const watching = new Watching(member.url, prefix, fromRevision, this.members.callMs, {
      events: (events, revision) => listener.events(events, revision),
      ended: (error) => {
        this.watches.delete(watching);
        if (error.code !== 'compacted') this.members.moveOnFrom(member);
        // The token may be the reason, and a new one costs little.
        this.members.forgetToken();
        listener.ended(error);
      },
    });
    this.watches.add(watching);
    this.members.token().then(
      (token) => watching.begin(() => member.stream('Watch', token)),
      (error: unknown) => watching.fail(error as EtcdError),
    );
    return {
      close: () => {
        this.watches.delete(watching);
        watching.close();
      },
    };
  }

  async grantLease(id: number, ttlSeconds: number): Promise<number> {
    const request = { ID: id, TTL: ttlSeconds };
    return numberOf((await this.members.ask<LeaseResponse>('LeaseGrant', request)).TTL);
  }

  async keepLease(id: number): Promise<number> {
    const member = this.members.current;
    const stream = member.stream('LeaseKeepAlive', await this.members.token());
    const answer = new Promise<object>((resolve, reject) => {
      stream.on('data', resolve);
      stream.on('error', reject);
      stream.on('end', () => reject(closed()));
    });
    stream.write({ ID: id });
    const call = { answer, cancel: () => stream.cancel() };
    try {
      return numberOf(((await this.members.inTime(member, call)) as LeaseResponse).TTL);
    } finally {
      stream.cancel();
    }
  }

  async revokeLease(id: number): Promise<void> {
    await this.members.ask('LeaseRevoke', { ID: id });
  }

  async compact(revision: number): Promise<void> {
    await this.members.ask('Compact', { revision });
  }

  async status(): Promise<readonly EtcdStatus[]> {
    const asked = this.members.all.map(async (member): Promise<EtcdStatus> => {
      const call = member.call('Status', {}, await this.members.token());
      const answer = (await this.members.inTime(member, call, false)) as StatusResponse;
      const told = numberOf(answer.dbSizeQuota);
      const quotaBytes = told > 0 ? told : await member.quota();
      return {
        ...(quotaBytes === undefined ? {} : { quotaBytes }),
        version: answer.version,
        dbBytes: numberOf(answer.dbSize),
        dbBytesInUse: numberOf(answer.dbSizeInUse),
        leader: answer.leader,
        member: answer.header.member_id,
      };
    });
    const told = await Promise.allSettled(asked);
    return told.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  }

  async alarms(): Promise<readonly string[]> {
    const { alarms } = await this.members.ask<AlarmResponse>('Alarm', {});
    return [...new Set(alarms.map(({ alarm }) => alarm))];
  }

  close(): void {
    for (const watching of this.watches) watching.close();
    this.members.close();
  }
}
