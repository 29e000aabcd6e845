// Owns one watch: from the request until it ends, which the listener is told once.

import { EtcdError, type Watch, type WatchEvent, type WatchListener } from './etcd.ts';
import type { Stream } from './etcd-members.ts';
import { prefixEnd } from './keys.ts';
import type { WatchResponse } from './wire.ts';
import { etcdError, type WireError } from './wire-errors.ts';
import { bytesOf, keyValueOf, numberOf } from './wire-values.ts';

export class Watching implements Watch {
  private readonly url: string;
  private readonly prefix: string;
  private readonly fromRevision: number;
  private readonly callMs: number;
  private readonly listener: WatchListener;
  private stream: Stream | undefined;
  private timer: NodeJS.Timeout | undefined;
  private isOver = false;

  constructor(
    url: string,
    prefix: string,
    fromRevision: number,
    callMs: number,
    listener: WatchListener,
  ) {
    this.url = url;
    this.prefix = prefix;
    this.fromRevision = fromRevision;
    this.callMs = callMs;
    this.listener = listener;
  }

  begin(open: () => Stream): void {
    if (this.isOver) return;
    this.stream = open();
    this.stream.on('data', (answer) => this.take(answer as WatchResponse));
    this.stream.on('error', (error: WireError) => this.fail(etcdError(error, this.url)));
    this.stream.on('end', () => this.lost('it ended the watch'));
    this.timer = setTimeout(() => this.lost('it does not begin the watch in time'), this.callMs);
    this.stream.write({
      create_request: {
        key: bytesOf(this.prefix),
        range_end: bytesOf(prefixEnd(this.prefix)),
        start_revision: this.fromRevision,
        progress_notify: true,
      },
    });
  }

  fail(error: EtcdError): void {
    if (this.isOver) return;
    this.close();
    this.listener.ended(error);
  }

  close(): void {
    this.isOver = true;
    clearTimeout(this.timer);
    this.stream?.cancel();
  }

  private lost(why: string): void {
    this.fail(new EtcdError('no_answer', `${this.url}: ${why}`));
  }

  private take(answer: WatchResponse): void {
    if (this.isOver) return;
    clearTimeout(this.timer);
    if (answer.canceled) return this.fail(cancelled(answer, this.url));
    if (answer.created) return;
    const events = answer.events.map(eventOf);
    // The header's revision may lie beyond events that are still to come.
    const last = events.at(-1);
    this.listener.events(events, last === undefined ? numberOf(answer.header.revision) : at(last));
  }
}

const at = (event: WatchEvent): number =>
  event.type === 'put' ? event.kv.modRevision : event.modRevision;

function eventOf({ type, kv }: WatchResponse['events'][number]): WatchEvent {
  const changed = keyValueOf(kv);
  if (type === 'PUT') return { type: 'put', kv: changed };
  return { type: 'remove', key: changed.key, modRevision: changed.modRevision };
}

function cancelled({ compact_revision, cancel_reason }: WatchResponse, url: string): EtcdError {
  const compacted = numberOf(compact_revision);
  return compacted > 0
    ? new EtcdError('compacted', `${url}: history before revision ${compacted} is gone`)
    : new EtcdError('no_answer', `${url}: the watch was cancelled: ${cancel_reason}`);
}
