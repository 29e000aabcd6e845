// Owns the messages of etcd's public API v3 that leasehold sends and reads: the numbers of their
// fields are facts of that API. Fields that leasehold neither sends nor reads are left out, as the
// encoding allows.

const KINDS = { b: 'bytes', s: 'string', i: 'int64', u: 'uint64', t: 'bool' } as const;

interface Field {
  readonly id: number;
  readonly type: string;
  readonly rule?: 'repeated';
}

/** @param fields each as `name=id:type`, where a type of one letter is short for one of KINDS */
function message(fields: string, oneof?: readonly [name: string, members: readonly string[]]) {
  const entries = fields.split(' ').filter(Boolean);
  const described = entries.map((entry): [string, Field] => {
    const [, name = '', id, kind = '', many] = /^(\w+)=(\d+):([\w.]+)(\*?)$/.exec(entry) ?? [];
    const type = KINDS[kind as keyof typeof KINDS] ?? kind;
    return [name, { id: Number(id), type, ...(many === '*' ? { rule: 'repeated' } : {}) }];
  });
  const oneofs = oneof === undefined ? {} : { oneofs: { [oneof[0]]: { oneof: oneof[1] } } };
  return { fields: Object.fromEntries(described), ...oneofs };
}

const values = (...names: string[]) => ({
  values: Object.fromEntries(names.map((name, id) => [name, id])),
});

type Rpc = readonly [name: string, request: string, answer: string, isStream?: boolean];

const service = (...methods: readonly Rpc[]) => ({
  methods: Object.fromEntries(
    methods.map(([name, requestType, responseType, isStream]) => [
      name,
      { requestType, responseType, ...(isStream ? { requestStream: true } : {}) },
    ]),
  ),
});

const streaming = (name: string, request: string, answer: string) => ({
  methods: {
    [name]: {
      requestType: request,
      responseType: answer,
      requestStream: true,
      responseStream: true,
    },
  },
});

const STORED = {
  KeyValue: message('key=1:b mod_revision=3:i value=5:b lease=6:i'),
  EventType: values('PUT', 'DELETE'),
  Event: message('type=1:EventType kv=2:KeyValue'),
};

const KEYS_AND_VALUES = {
  ResponseHeader: message('member_id=2:u revision=3:i'),
  RangeRequest: message('key=1:b range_end=2:b limit=3:i revision=4:i'),
  RangeResponse: message('header=1:ResponseHeader kvs=2:mvccpb.KeyValue* more=3:t'),
  PutRequest: message('key=1:b value=2:b lease=3:i'),
  PutResponse: message('header=1:ResponseHeader'),
  DeleteRangeRequest: message('key=1:b range_end=2:b'),
  DeleteRangeResponse: message('header=1:ResponseHeader deleted=2:i'),
  RequestOp: message(
    'request_range=1:RangeRequest request_put=2:PutRequest ' +
      'request_delete_range=3:DeleteRangeRequest',
    ['request', ['request_range', 'request_put', 'request_delete_range']],
  ),
  ResponseOp: message(
    'response_range=1:RangeResponse response_put=2:PutResponse ' +
      'response_delete_range=3:DeleteRangeResponse',
    ['response', ['response_range', 'response_put', 'response_delete_range']],
  ),
  CompareResult: values('EQUAL', 'GREATER', 'LESS', 'NOT_EQUAL'),
  CompareTarget: values('VERSION', 'CREATE', 'MOD', 'VALUE', 'LEASE'),
  Compare: message(
    'result=1:CompareResult target=2:CompareTarget key=3:b mod_revision=6:i value=7:b',
    ['target_union', ['mod_revision', 'value']],
  ),
  TxnRequest: message('compare=1:Compare* success=2:RequestOp* failure=3:RequestOp*'),
  TxnResponse: message('header=1:ResponseHeader succeeded=2:t responses=3:ResponseOp*'),
  CompactionRequest: message('revision=1:i'),
  CompactionResponse: message('header=1:ResponseHeader'),
};

const WATCHES = {
  WatchRequest: message('create_request=1:WatchCreateRequest', [
    'request_union',
    ['create_request'],
  ]),
  WatchCreateRequest: message('key=1:b range_end=2:b start_revision=3:i progress_notify=4:t'),
  WatchResponse: message(
    'header=1:ResponseHeader created=3:t canceled=4:t compact_revision=5:i cancel_reason=6:s ' +
      'events=11:mvccpb.Event*',
  ),
};

const LEASES = {
  LeaseGrantRequest: message('TTL=1:i ID=2:i'),
  LeaseGrantResponse: message('header=1:ResponseHeader ID=2:i TTL=3:i error=4:s'),
  LeaseRevokeRequest: message('ID=1:i'),
  LeaseRevokeResponse: message('header=1:ResponseHeader'),
  LeaseKeepAliveRequest: message('ID=1:i'),
  LeaseKeepAliveResponse: message('header=1:ResponseHeader ID=2:i TTL=3:i'),
};

const UPKEEP = {
  StatusRequest: message(''),
  StatusResponse: message(
    'header=1:ResponseHeader version=2:s dbSize=3:i leader=4:u dbSizeInUse=9:i dbSizeQuota=12:i',
  ),
  AlarmType: values('NONE', 'NOSPACE', 'CORRUPT'),
  /** The action 0, which is left out here, lists the alarms that stand. */
  AlarmRequest: message(''),
  AlarmMember: message('memberID=1:u alarm=2:AlarmType'),
  AlarmResponse: message('header=1:ResponseHeader alarms=2:AlarmMember*'),
  AuthenticateRequest: message('name=1:s password=2:s'),
  AuthenticateResponse: message('header=1:ResponseHeader token=2:s'),
};

const SERVICES = {
  KV: service(
    ['Range', 'RangeRequest', 'RangeResponse'],
    ['Txn', 'TxnRequest', 'TxnResponse'],
    ['Compact', 'CompactionRequest', 'CompactionResponse'],
  ),
  Watch: streaming('Watch', 'WatchRequest', 'WatchResponse'),
  Lease: {
    methods: {
      ...service(
        ['LeaseGrant', 'LeaseGrantRequest', 'LeaseGrantResponse'],
        ['LeaseRevoke', 'LeaseRevokeRequest', 'LeaseRevokeResponse'],
      ).methods,
      ...streaming('LeaseKeepAlive', 'LeaseKeepAliveRequest', 'LeaseKeepAliveResponse').methods,
    },
  },
  Maintenance: service(
    ['Alarm', 'AlarmRequest', 'AlarmResponse'],
    ['Status', 'StatusRequest', 'StatusResponse'],
  ),
  Auth: service(['Authenticate', 'AuthenticateRequest', 'AuthenticateResponse']),
};

/** In the form that the loader of definitions reads. */
export const WIRE = {
  nested: {
    mvccpb: { nested: STORED },
    etcdserverpb: {
      nested: { ...KEYS_AND_VALUES, ...WATCHES, ...LEASES, ...UPKEEP, ...SERVICES },
    },
  },
};

export type Method = 'Range' | 'Txn' | 'Compact' | 'LeaseGrant' | 'LeaseRevoke' | UpkeepMethod;
type UpkeepMethod = 'Alarm' | 'Status' | 'Authenticate';
export type StreamMethod = 'Watch' | 'LeaseKeepAlive';

export const SERVICE_OF: Readonly<Record<Method | StreamMethod, keyof typeof SERVICES>> = {
  Range: 'KV',
  Txn: 'KV',
  Compact: 'KV',
  Watch: 'Watch',
  LeaseGrant: 'Lease',
  LeaseRevoke: 'Lease',
  LeaseKeepAlive: 'Lease',
  Alarm: 'Maintenance',
  Status: 'Maintenance',
  Authenticate: 'Auth',
};

/** Answers as they come: 64-bit numbers as text, so that no member's id is rounded. */
export interface Header {
  readonly member_id: string;
  readonly revision: string;
}
export interface WireKeyValue {
  readonly key: Buffer;
  readonly value: Buffer;
  readonly mod_revision: string;
  readonly lease: string;
}
export interface RangeResponse {
  readonly header: Header;
  readonly kvs: readonly WireKeyValue[];
  readonly more: boolean;
}
export interface TxnResponse {
  readonly header: Header;
  readonly succeeded: boolean;
  readonly responses: readonly { readonly response_range?: RangeResponse }[];
}
export interface WatchResponse {
  readonly header: Header;
  readonly created: boolean;
  readonly canceled: boolean;
  readonly compact_revision: string;
  readonly cancel_reason: string;
  readonly events: readonly { readonly type: string; readonly kv: WireKeyValue }[];
}
export interface LeaseResponse {
  readonly TTL: string;
}
export interface StatusResponse {
  readonly header: Header;
  readonly version: string;
  readonly dbSize: string;
  readonly dbSizeInUse: string;
  readonly leader: string;
  /** 0 from members before version 3.6. */
  readonly dbSizeQuota: string;
}
export interface AlarmResponse {
  readonly alarms: readonly { readonly alarm: string }[];
}
