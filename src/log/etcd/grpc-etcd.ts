// Owns the connection to etcd's members over gRPC. No other file names gRPC, and this one is only
// imported when leasehold is told to use etcd.
//
// A library that repeats calls by itself is not used, and gRPC's own repeating is off: a repeated
// transaction is a decision of tail.ts. Calls are ended by a timer here, not by a deadline of gRPC,
// because such a deadline is a time of the wall clock, which may be set while a call is under way.

import * as grpc from '@grpc/grpc-js';
import { fromJSON } from '@grpc/proto-loader';
import { type Etcd, RECONNECT_MAX_MS } from './etcd.ts';
import { EtcdClient } from './etcd-client.ts';
import type { Call, Member, Stream } from './etcd-members.ts';
import { memberQuota } from './member-quota.ts';
import { type Method, SERVICE_OF, type StreamMethod, WIRE } from './wire.ts';

export interface EtcdOptions {
  /** At least one, each http: or https: with a port. They are asked one at a time. */
  readonly urls: readonly string[];
  /** So long an answer is waited for. */
  readonly callMs: number;
  /** In PEM; for URLs with https: only. Without `ca` the system's authorities are believed. */
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
  readonly user?: { readonly name: string; readonly password: string };
}

/** Connects at the first call. @throws Error for a URL or a certificate that cannot be read. */
export function openEtcd(options: EtcdOptions): Etcd {
  const members = options.urls.map((url) => new GrpcMember(url, options));
  return new EtcdClient(members, options.callMs, options.user);
}

const CHANNEL = {
  'grpc.enable_retries': 0,
  'grpc.enable_http_proxy': 0,
  'grpc.service_config_disable_resolution': 1,
  'grpc.use_local_subchannel_pool': 1,
  'grpc.max_receive_message_length': -1,
  'grpc.max_send_message_length': -1,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.min_reconnect_backoff_ms': 100,
  // The default grows to minutes; nodes that come back at other times take each other for dead.
  'grpc.max_reconnect_backoff_ms': RECONNECT_MAX_MS,
  'grpc.dns_min_time_between_resolutions_ms': 1_000,
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 3_000,
};

type Definition = grpc.MethodDefinition<object, object>;

const definitions = fromJSON(WIRE as never, {
  keepCase: true,
  longs: String,
  enums: String,
  defaults: true,
  oneofs: false,
});
const definitionOf = (method: Method | StreamMethod): Definition => {
  const service = definitions[`etcdserverpb.${SERVICE_OF[method]}`] as Record<string, Definition>;
  return service[method] as Definition;
};

/** A quota changes only when a member is started again. */
const QUOTA_KEPT_MS = 30_000;

class GrpcMember implements Member {
  readonly url: string;
  private readonly client: grpc.Client;
  private readonly options: EtcdOptions;
  private askedAt = Number.NEGATIVE_INFINITY;
  private known: Promise<number | undefined> = Promise.resolve(undefined);

  constructor(url: string, options: EtcdOptions) {
    this.url = url;
    this.options = options;
    const { ca, cert, key } = options;
    const { protocol, hostname, port } = new URL(url);
    if (protocol !== 'http:' && protocol !== 'https:') {
      throw new Error(`an etcd URL begins with http: or https:, not ${url}`);
    }
    const credentials =
      protocol === 'https:'
        ? grpc.credentials.createSsl(ca ?? null, key ?? null, cert ?? null)
        : grpc.credentials.createInsecure();
    this.client = new grpc.Client(`${hostname}:${port || '2379'}`, credentials, CHANNEL);
  }

  call(method: Method, request: object, token: string | undefined): Call {
    const { path, requestSerialize, responseDeserialize } = definitionOf(method);
    let call: grpc.ClientUnaryCall | undefined;
    const answer = new Promise<object>((resolve, reject) => {
      call = this.client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        request,
        metadata(token),
        (error, value) => (error ? reject(error) : resolve(value as object)),
      );
    });
    return { answer, cancel: () => call?.cancel() };
  }

  stream(method: StreamMethod, token: string | undefined): Stream {
    const { path, requestSerialize, responseDeserialize } = definitionOf(method);
    return this.client.makeBidiStreamRequest(
      path,
      requestSerialize,
      responseDeserialize,
      metadata(token),
    );
  }

  quota(): Promise<number | undefined> {
    const now = performance.now();
    if (now - this.askedAt < QUOTA_KEPT_MS) return this.known;
    const { ca, cert, key, callMs } = this.options;
    const tls = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
    this.askedAt = now;
    this.known = memberQuota(this.url, tls, callMs).then((bytes) => {
      if (bytes === undefined) this.askedAt = Number.NEGATIVE_INFINITY;
      return bytes;
    });
    return this.known;
  }

  close(): void {
    this.client.close();
  }
}

/** A member that has lost its leader refuses the call instead of holding it. */
function metadata(token: string | undefined): grpc.Metadata {
  const data = new grpc.Metadata();
  data.set('hasleader', 'true');
  if (token !== undefined) data.set('token', token);
  return data;
}
