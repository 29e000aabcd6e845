// Owns the HTTP server of the ingress: its limits and time-outs, and what happens to a request
// before its route sees it. What a route does is in routes.ts and reads.ts.

import type { IncomingMessage } from 'node:http';
import {
  type FastifyContentTypeParser,
  type FastifyInstance,
  type FastifyRequest,
  fastify,
} from 'fastify';
import { bodyMaxBytes } from '../../src/model/limits.ts';
import { operationOf, operationsThat } from '../../src/model/operations.ts';
import { type Rejected, rejected } from '../../src/model/refusal.ts';
import type { IngressConfig } from '../ingress/start-data.ts';
import { BodyReader } from './body.ts';
import { queryFault } from './fields.ts';
import { guardOf } from './guard.ts';
import { clientErrorHandler, errorHandler, notFoundHandler, sendRefusal } from './problems.ts';
import { type ReadLink, readHandlers } from './reads.ts';
import { type CoordinatorLink, type Route, routesOf } from './routes.ts';

export interface HttpTimeouts {
  /** For receiving the head of a request. */
  readonly headersMs: number;
  /** For receiving all of it. */
  readonly requestMs: number;
  /** How often both are looked at. */
  readonly checkMs: number;
}

const TIMEOUTS: HttpTimeouts = { headersMs: 10_000, requestMs: 30_000, checkMs: 1_000 };
const CONNECTIONS_MAX = 10_000;
/** So many of the largest bodies may be on their way together. */
const BODIES_MAX = 16;
/** Longer than any id may be: what is too long is told as malformed, with its field. */
const PARAM_MAX_LENGTH = 1_024;

/** Our routes have no schemas of fastify's: it need not load what makes functions out of them. */
const WITHOUT_SCHEMAS = {
  compilersFactory: { buildValidator: withoutSchemas, buildSerializer: withoutSchemas },
};

function withoutSchemas(): never {
  throw new Error('a route has a schema, and nothing here makes a function out of one');
}

export type AppLink = CoordinatorLink & ReadLink & { readonly config: IngressConfig };

/** @param host the address that is listened on. @returns a server that does not listen yet. */
export async function createApp(
  link: AppLink,
  host: string,
  { headersMs, requestMs, checkMs }: HttpTimeouts = TIMEOUTS,
): Promise<FastifyInstance> {
  const app = fastify({
    bodyLimit: bodyMaxBytes(link.limits.payloadMaxBytes),
    requestTimeout: requestMs,
    http: {
      headersTimeout: headersMs,
      connectionsCheckingInterval: checkMs,
      // Node's own refusal would be no problem document.
      requireHostHeader: false,
    },
    routerOptions: { maxParamLength: PARAM_MAX_LENGTH },
    schemaController: WITHOUT_SCHEMAS,
    clientErrorHandler,
    frameworkErrors: errorHandler,
  });
  app.server.maxConnections = CONNECTIONS_MAX;
  // A client that has closed its sending half still reads: it gets its answer. Node keeps the
  // switch for this out of its documentation.
  (app.server as typeof app.server & { httpAllowHalfOpen: boolean }).httpAllowHalfOpen = true;
  // An unknown Expect is none of our business, and the refusal for it would be no problem document.
  app.server.on('checkExpectation', (request, response) => {
    app.server.emit('request', request, response);
  });
  const bodyMax = Math.max(link.batchMaxBytes, bodyMaxBytes(link.limits.payloadMaxBytes));
  takeAnyBody(app, new BodyReader(BODIES_MAX * bodyMax));
  guard(app, link.config, host);
  const routes = routesOf(link, readHandlers(link));
  for (const route of routes) addRoute(app, route);
  app.setErrorHandler(errorHandler);
  app.setNotFoundHandler(notFoundHandler(routes));
  await app.ready();
  return app;
}

function addRoute(app: FastifyInstance, { method, url, bodyLimit, handler }: Route): void {
  app.route({ method, url, handler, ...(bodyLimit === undefined ? {} : { bodyLimit }) });
}

/** What every content type is taken for: a parser that is looked up by a known name costs less. */
const ANY_BYTES = 'application/octet-stream';

/** Bodies are bytes: what they mean, the route says, never their content type. */
function takeAnyBody(app: FastifyInstance, bodies: BodyReader): void {
  const read: FastifyContentTypeParser = (request, stream, done) => {
    bodies.read(stream, request.routeOptions.bodyLimit ?? app.initialConfig.bodyLimit ?? 0, done);
  };
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(ANY_BYTES, read);
  // A body may come without a content type.
  app.addContentTypeParser('*', read);
}

/** Who runs the process must always see these. */
const OPEN_PATHS: ReadonlySet<string | undefined> = new Set(
  operationsThat(({ http }) => http?.open === true).map((name) => operationOf(name).http?.path),
);

function guard(app: FastifyInstance, config: IngressConfig, host: string): void {
  const refuse = guardOf(config.token, host);
  app.addHook('onRequest', (request, reply, done) => {
    const { headers } = request.raw;
    const isOpen = OPEN_PATHS.has(request.url);
    const refusal = hostFault(request.raw) ?? (isOpen ? undefined : refuse(headers));
    if (refusal !== undefined) return sendRefusal(reply, refusal);
    const fault = queryFault(request.url);
    if (fault !== undefined) return sendRefusal(reply, fault);
    if (isEncoded(request)) {
      return sendRefusal(reply, rejected('malformed', 'Encoded bodies are not taken.'), 415);
    }
    // An ill-formed content type would be refused by the framework before our parser sees it, and
    // a QUERY without one before it is told that no route takes this method.
    if (headers['content-type'] !== undefined || request.method === 'QUERY') {
      headers['content-type'] = ANY_BYTES;
    }
    done();
  });
}

/** Of two Hosts node gives the first, and a proxy before us may have looked at the other one. */
function hostFault({ rawHeaders, httpVersion }: IncomingMessage): Rejected | undefined {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  if (hosts === 1 || (hosts === 0 && httpVersion === '1.0')) return undefined;
  const what = hosts === 0 ? 'names its Host.' : 'has one Host.';
  return rejected('malformed', `A request of HTTP/1.1 ${what}`);
}

/** Node takes the chunks apart, and passes over any other coding of the transfer. */
function isEncoded({ headers }: FastifyRequest): boolean {
  const { 'content-encoding': content, 'transfer-encoding': transfer } = headers;
  return isOther(content, 'identity') || isOther(transfer, 'chunked');
}

const isOther = (coding: string | undefined, plain: string): boolean =>
  coding !== undefined && coding.toLowerCase() !== plain;
