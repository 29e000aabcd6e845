// Owns the refusals that no route gives: unknown routes, wrong methods, bodies too large, requests
// that are no HTTP. Each is a problem document like all others, and shows nothing of the inside.

import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { type Refusal, type Rejected, rejected } from '../../src/model/refusal.ts';
import { type Answer, answerOf } from '../../src/protocol/answer-frame.ts';
import { formatRefusal } from '../../src/protocol/answer-text.ts';
import { BodyRefused } from './body.ts';

export const JSON_TYPE = 'application/json; charset=utf-8';
export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

/** Up to here one write of a string with the head is cheaper than two of bytes. */
const STRING_MAX_BYTES = 4_096;
const LINE_END = Buffer.from('\n');

/** Sends an answer as it came through the mailbox. */
export function sendAnswer(reply: FastifyReply, answer: Answer): void {
  reply.code(answer.status).header('content-type', answer.status < 400 ? JSON_TYPE : PROBLEM_TYPE);
  if (answer.leader !== undefined) reply.header('leasehold-leader', answer.leader);
  const isToldWhen = answer.retryAfterSeconds > 0 || answer.leader !== undefined;
  if (isToldWhen) reply.header('retry-after', answer.retryAfterSeconds);
  const isShort = answer.bodyBytes <= STRING_MAX_BYTES;
  reply.send(isShort ? `${answer.text}\n` : asLine(answer.body));
}

/** A JSON text with the end of its line, so that a shell's prompt does not stick to it. */
export function asLine(json: Buffer): string | Buffer {
  return json.length <= STRING_MAX_BYTES
    ? `${json.toString('utf8')}\n`
    : Buffer.concat([json, LINE_END]);
}

/** @param status where HTTP has a closer one than the reason has. */
export function sendRefusal(reply: FastifyReply, refusal: Refusal, status?: number): void {
  if (refusal.reason === 'unauthorized') reply.header('www-authenticate', 'Bearer');
  const answer = answerOf(refusal);
  if (status === undefined) return sendAnswer(reply, answer);
  sendAnswer(reply, answer.with(status, formatRefusal(refusal, status)));
}

/** Methods by pattern, for 405: a path that is known under another method is no unknown route. */
export type RouteList = readonly { readonly method: string; readonly url: string }[];

const NO_ROUTE = 'There is no route of this path; GET /openapi.json lists them.';

export function notFoundHandler(routes: RouteList) {
  const known = routes.map(({ method, url }) => ({
    method,
    path: new RegExp(`^${url.replaceAll('.', '\\.').replace(/:[a-z_]+/g, '[^/]+')}$`),
  }));
  return (request: FastifyRequest, reply: FastifyReply): void => {
    const path = request.url.split('?', 1)[0] ?? '';
    const methods = known.filter((route) => route.path.test(path)).map(({ method }) => method);
    if (methods.length === 0) {
      return sendRefusal(reply, rejected('unknown_route', NO_ROUTE));
    }
    const allow = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
    reply.header('allow', allow.join(', '));
    const detail = `This route takes ${allow.join(', ')}.`;
    sendRefusal(reply, rejected('method_not_allowed', detail));
  };
}

/**
 * For errors of the framework while it reads a request. An error without a 4xx status is a bug in
 * our own code: it is not answered but thrown, and ends the thread.
 */
export function errorHandler(
  error: FastifyError | BodyRefused,
  _: FastifyRequest,
  reply: FastifyReply,
): void {
  // The framework would close the connection while the client still sends, and the reset would
  // take the answer with it. So the rest of the body is read and thrown away, until the time-out.
  reply.removeHeader('connection');
  if (error instanceof BodyRefused) return sendRefusal(reply, error.refusal);
  const status = error.statusCode ?? 500;
  if (status < 400 || status >= 500) {
    setImmediate(() => {
      throw error;
    });
    return;
  }
  sendRefusal(reply, refusalOf(status));
}

function refusalOf(status: number): Rejected {
  if (status === 414) return rejected('malformed', 'The path is too long.');
  return rejected('malformed', 'The request is not well-formed HTTP for this route.');
}

const TIMEOUT = 'ERR_HTTP_REQUEST_TIMEOUT';
const OVERFLOW = 'HPE_HEADER_OVERFLOW';

/**
 * For bytes that are no HTTP, headers too long, and requests that do not come to an end. The
 * connection ends; an answer that is still owed on it is sent first.
 */
export function clientErrorHandler(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const owed = answerOwed(socket);
  if (owed !== undefined) {
    socket.pause();
    owed.once('close', () => socket.destroy());
    return;
  }
  const [line, detail] = wordsFor(error.code);
  const text = `${formatRefusal(rejected('malformed', detail), Number(line.slice(0, 3)))}\n`;
  socket.end(
    `HTTP/1.1 ${line}\r\ncontent-type: ${PROBLEM_TYPE}\r\nconnection: close\r\n` +
      `content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  );
}

/** The answer to a request that came in whole before the fault; Node keeps it at the socket. */
function answerOwed(socket: Socket): ServerResponse | undefined {
  const { _httpMessage: first } = socket as Socket & { _httpMessage?: ServerResponse | null };
  return first?.req.complete === true ? first : undefined;
}

function wordsFor(code: string | undefined): [line: string, detail: string] {
  if (code === TIMEOUT) return ['408 Request Timeout', 'The request did not come to its end.'];
  if (code === OVERFLOW) {
    return ['431 Request Header Fields Too Large', 'The headers are larger than is taken.'];
  }
  return ['400 Bad Request', badRequest(code)];
}

/** By what the parser of Node calls the fault. */
function badRequest(code = ''): string {
  if (code === 'HPE_INVALID_EOF_STATE') return 'The connection ended before the request did.';
  if (code.includes('CHUNK')) return 'The chunks of the body are not well-formed.';
  if (/HEADER|CONTENT_LENGTH|TRANSFER_ENCODING/.test(code)) {
    return 'The headers are not well-formed, or contradict each other.';
  }
  return 'These bytes are no HTTP request; the port for JSON-RPC lines is another one.';
}
