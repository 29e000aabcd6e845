// Owns what the methods of the socket mean: which request a call is, who answers it, and how heavy
// it weighs while it is open. It knows no connection and no line.

import type { ParseLimits } from '../../src/model/limits.ts';
import { rejected } from '../../src/model/refusal.ts';
import type { Request } from '../../src/model/request.ts';
import type { Answer } from '../../src/protocol/answer-frame.ts';
import {
  errorAnswer,
  invalidParams,
  METHOD_NOT_FOUND,
  RESULT_END,
  type RpcCall,
  resultStart,
  UNAUTHORIZED,
} from '../../src/protocol/jsonrpc.ts';
import { parseRequest, type Verb } from '../../src/protocol/parse.ts';
import { isRefusal, readTaskId } from '../../src/protocol/parse-fields.ts';
import { formatRefusal } from '../../src/protocol/problem.ts';
import type { AuthFields, ExplainFields, LogPageFields } from '../../src/protocol/schemas.ts';
import { malformed } from '../../src/protocol/validate-form.ts';
import { tokenMatcher } from '../ingress/token-match.ts';

export type OnAnswer = (answer: Answer) => void;

/** What stands around the connections: the ways to the coordinator and to the reader. */
export interface SocketBackend {
  readonly limits: ParseLimits;
  /** A line; a batch, which begins with `[`. */
  readonly lineMaxBytes: number;
  readonly batchMaxBytes: number;
  readonly token: string | undefined;
  /** The body of `config`. */
  readonly configText: string;
  /** Where HTTP is spoken, as a URL; undefined: nowhere, or not known. */
  httpAddress(): string | undefined;
  /** @returns the ticket to withdraw or hasten it by; 0: it is answered already. */
  ask(request: Request, onAnswer: OnAnswer): number;
  withdraw(ticket: number): void;
  hasten(ticket: number): void;
  /** JSON text; never rejects. */
  explain(fields: ExplainFields): Promise<string | Buffer>;
  /** One page of the log, as JSON text; never rejects. */
  log(fields: LogPageFields): Promise<string | Buffer>;
}

/** Takes the pieces of one answer, in this turn or later, once. */
export type Reply = (...pieces: (string | Buffer)[]) => void;

const VERBS: ReadonlySet<string> = new Set<Verb>([
  'submit',
  'lease',
  'heartbeat',
  'complete',
  'fail',
  'kill',
  'redrive',
  'task',
  'tasks',
  'stats',
  'queues',
  'workers',
]);

/** How much of a connection's budget an open call takes: what its answer may come to. */
export function weightOf(call: RpcCall, lineBytes: number): number {
  const ofLine = 1 + lineBytes / 16_384;
  switch (call.method) {
    case 'lease': {
      const max = (call.params as { max?: unknown }).max;
      return ofLine + Math.min(typeof max === 'number' && max > 0 ? 8 * max : 8, 256);
    }
    case 'tasks':
    case 'log':
    case 'explain':
      return ofLine + 128;
    case 'task':
    case 'config':
      return ofLine + 16;
    default:
      return ofLine;
  }
}

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
    const fault = malformed('auth', params);
    if (fault !== undefined) return invalidParams(id, fault);
    const { token } = params as AuthFields;
    const wanted = this.#backend.token;
    if (wanted !== undefined && !tokenMatcher(wanted)(token)) {
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
  reply: Reply,
): number {
  const { id, method, params } = call;
  if (method === 'auth') reply(admission.auth(call));
  else if (!admission.isOpen) {
    reply(errorAnswer(id, UNAUTHORIZED, 'The first call is auth {token}.'));
  } else if (VERBS.has(method)) {
    return askCoordinator(call, inBatch, backend, reply);
  } else if (method === 'explain') explain(call, backend, reply);
  else if (method === 'log') log(call, inBatch, backend, reply);
  else if (method === 'config') {
    const fault = malformed('config', params);
    if (fault !== undefined) reply(invalidParams(id, fault));
    else reply(resultStart(id), backend.configText, RESULT_END);
  } else {
    const shown = JSON.stringify(method.slice(0, 100));
    reply(errorAnswer(id, METHOD_NOT_FOUND, `There is no method ${shown}.`));
  }
  return 0;
}

function askCoordinator(
  { id, method, params }: RpcCall,
  inBatch: boolean,
  backend: SocketBackend,
  reply: Reply,
): number {
  const request = parseRequest(method as Verb, params, backend.limits);
  if ('kind' in request && request.kind === 'refusal') {
    if (request.reason === 'malformed') reply(invalidParams(id, request));
    else reply(resultStart(id), formatRefusal(request), RESULT_END);
    return 0;
  }
  if (inBatch && 'waitMs' in request && request.waitMs > 0) {
    reply(invalidParams(id, rejected('malformed', WAITS, WAIT_FIELD)));
    return 0;
  }
  return backend.ask(request, ({ body }) => reply(resultStart(id), body, RESULT_END));
}

function explain({ id, params }: RpcCall, backend: SocketBackend, reply: Reply): void {
  const fault = malformed('explain', params);
  if (fault !== undefined) return reply(invalidParams(id, fault));
  const fields = params as ExplainFields;
  const taskId = readTaskId(fields.task_id);
  if (isRefusal(taskId)) return reply(invalidParams(id, taskId));
  void backend.explain(fields).then((text) => reply(resultStart(id), text, RESULT_END));
}

function log(call: RpcCall, inBatch: boolean, backend: SocketBackend, reply: Reply): void {
  const { id, params } = call;
  const fields = params as LogPageFields;
  const fault =
    malformed('log-page', params) ??
    (inBatch && (fields.wait_ms ?? 0) > 0 ? rejected('malformed', WAITS, WAIT_FIELD) : undefined);
  if (fault !== undefined) return reply(invalidParams(id, fault));
  void backend.log(fields).then((text) => reply(resultStart(id), text, RESULT_END));
}

// The whole line is answered at once: one that waits would hold all the others back.
const WAITS = 'wait_ms must be 0 in a batch.';
const WAIT_FIELD = { field: 'wait_ms' };
