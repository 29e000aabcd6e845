// Owns what the methods of the socket mean: which request a call is, who answers it, and how heavy
// it weighs while it is open. It knows no connection and no line.

import { LEASES_MAX, PAGE_MAX, type ParseLimits } from '../../src/model/limits.ts';
import { OPERATION_NAMES, type OperationName, operationOf } from '../../src/model/operations.ts';
import { isRefusal, rejected } from '../../src/model/refusal.ts';
import type { Op, Request, RequestOf } from '../../src/model/request.ts';
import { formatRefusal } from '../../src/protocol/answer-text.ts';
import { parseRequest } from '../../src/protocol/fields-to-request.ts';
import {
  errorAnswer,
  INVALID_REQUEST,
  invalidParams,
  METHOD_NOT_FOUND,
  RESULT_END,
  type RpcCall,
  resultStart,
  UNAUTHORIZED,
} from '../../src/protocol/jsonrpc.ts';
import {
  type BatchBytes,
  mostBytesOfLeases,
  mostBytesOfPage,
  mostBytesOfTask,
  mostBytesOfTasks,
} from '../ingress/batch-bytes.ts';
import { weightOfLeases } from '../ingress/batch-weight.ts';
import type { Asker } from '../ingress/gate.ts';
import { tokenMatcher } from '../ingress/token-match.ts';
import type { OpenCall } from './open-call.ts';

type Asked = Op | 'config' | 'cluster' | 'explain' | 'logPage';

/** What stands around the connections: the ways to the coordinator and to the reader. */
export interface SocketBackend {
  readonly limits: ParseLimits;
  /** A line; a batch, which begins with `[`. */
  readonly lineMaxBytes: number;
  readonly batchMaxBytes: number;
  /** The answers to a batch. */
  readonly answersMaxBytes: number;
  readonly token: string | undefined;
  /** The body of `config`. */
  readonly configText: string;
  /** The body of `cluster`. */
  clusterText(): string;
  /** Where HTTP is spoken, as a URL; undefined: nowhere, or not known. */
  httpAddress(): string | undefined;
  /** @returns the ticket to withdraw or hasten it by; 0: it is answered already. */
  ask(request: Request, asker: Asker): number;
  withdraw(ticket: number): void;
  hasten(ticket: number): void;
  /** JSON text; never rejects. */
  explain(asked: RequestOf<'explain'>): Promise<string | Buffer>;
  /**
   * One page of the log, as JSON text; never rejects.
   * @param hurry aborts when it is to be answered with what there is
   */
  log(asked: RequestOf<'logPage'>, hurry: AbortSignal): Promise<string | Buffer>;
}

/** How much of a connection's budget an open call takes: what its answer may come to. */
export function weightOf(call: RpcCall, lineBytes: number): number {
  const ofLine = 1 + lineBytes / 16_384;
  if (call.method === 'lease') return ofLine + weightOfLeases(maxOf(call));
  const name = METHODS.get(call.method);
  return ofLine + (name === undefined ? 0 : (operationOf(name).weight ?? 0));
}

/** @returns what the answer to a call may come to; 0: it is always small. */
function mostBytesOf(call: RpcCall, backend: SocketBackend): number {
  const { limits, batchMaxBytes } = backend;
  switch (METHODS.get(call.method)) {
    case 'lease':
      return mostBytesOfLeases(maxOf(call), { ...limits, batchMaxBytes });
    case 'task':
      return mostBytesOfTask(limits);
    case 'tasks':
      return mostBytesOfTasks(PAGE_MAX);
    case 'logPage':
      return mostBytesOfPage(limits);
    case 'explain':
      // Nobody knows how long a story is before it is told: it is asked alone.
      return backend.answersMaxBytes;
    default:
      return 0;
  }
}

/** Calls `ask` when there is room for the answer, or refuses the call. */
export function askInTurn(
  batchBytes: BatchBytes,
  call: RpcCall,
  open: OpenCall,
  backend: SocketBackend,
  ask: () => void,
): void {
  const mostBytes = mostBytesOf(call, backend);
  const asking = (): void => {
    open.onSettled = (bytes) => batchBytes.answered({ mostBytes }, bytes);
    ask();
  };
  batchBytes.enter({ mostBytes, ask: asking, refuse: () => open.reply(tooHeavy(call)) });
}

/** The refusal of a call of a batch. */
export function tooHeavy({ id }: RpcCall): string {
  const text = 'The answers to this batch would be too large: send less at a time.';
  return errorAnswer(id, INVALID_REQUEST, text);
}

/** Nothing of the call is known to be well-formed yet. */
function maxOf({ params }: RpcCall): number {
  const { max } = params as { readonly max?: unknown };
  return typeof max === 'number' && max > 0 ? Math.min(max, LEASES_MAX) : 1;
}

/** By the method's name. */
const METHODS: ReadonlyMap<string, OperationName> = new Map(
  OPERATION_NAMES.flatMap((name) => {
    const { socket } = operationOf(name);
    return socket === undefined ? [] : [[socket === true ? name : socket, name]];
  }),
);

/** Whether this connection may ask: a token is set and given, or none is set. */
export class Admission {
  readonly #backend: SocketBackend;
  #isOpen: boolean;

  constructor(backend: SocketBackend) {
    this.#backend = backend;
    this.#isOpen = backend.token === undefined;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  auth({ id, params }: RpcCall): string {
    const asked = parseRequest('auth', params, this.#backend.limits);
    if (isRefusal(asked)) return invalidParams(id, asked);
    const wanted = this.#backend.token;
    if (wanted !== undefined && !tokenMatcher(wanted)(asked.token)) {
      return errorAnswer(id, UNAUTHORIZED, 'The token is wrong.');
    }
    this.#isOpen = true;
    return `${resultStart(id)}{"outcome":"OK"}${RESULT_END}`;
  }
}

/** @returns the ticket of a call that went to the coordinator and is still open, else 0. */
export function answerCall(
  call: RpcCall,
  inBatch: boolean,
  admission: Admission,
  backend: SocketBackend,
  open: OpenCall,
): number {
  const { id, method } = call;
  const name = METHODS.get(method);
  if (method === 'auth') open.reply(admission.auth(call));
  else if (!admission.isOpen) {
    open.reply(errorAnswer(id, UNAUTHORIZED, 'The first call is auth {token}.'));
  } else if (name === undefined) {
    const shown = JSON.stringify(method.slice(0, 100));
    open.reply(errorAnswer(id, METHOD_NOT_FOUND, `There is no method ${shown}.`));
  } else {
    return ask(call, name as Asked, inBatch, backend, open);
  }
  return 0;
}

function ask(
  { id, params, hasForm }: RpcCall,
  name: Asked,
  inBatch: boolean,
  backend: SocketBackend,
  open: OpenCall,
): number {
  const request = parseRequest(name, params, backend.limits, hasForm);
  if (isRefusal(request)) {
    if (request.reason === 'malformed') open.reply(invalidParams(id, request));
    else open.show(formatRefusal(request));
    return 0;
  }
  if (inBatch && 'waitMs' in request && request.waitMs > 0) {
    // The whole line is answered at once: one that waits would hold all the others back.
    const text = 'wait_ms must be 0 in a batch.';
    open.reply(invalidParams(id, rejected('malformed', text, { field: 'wait_ms' })));
    return 0;
  }
  if (request.op === 'config') open.show(backend.configText);
  else if (request.op === 'cluster') open.show(backend.clusterText());
  else if (request.op === 'explain') void backend.explain(request).then((text) => open.show(text));
  else if (request.op === 'logPage') {
    void backend.log(request, open.hurry).then((text) => open.show(text));
  } else return backend.ask(request, open);
  return 0;
}
